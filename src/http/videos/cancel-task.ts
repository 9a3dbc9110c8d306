import { GatewayError } from '../../errors/errors.ts';
import { isTerminal } from '../../task/task.ts';
import type { Task } from '../../task/record.ts';
import type { RouteDeps } from '../deps.ts';

/** Used by the routes of all dialects. Throws task_not_cancellable. */
export async function cancelTask(
  task: Task,
  { tasks, port }: Pick<RouteDeps, 'tasks' | 'port'>,
): Promise<Task> {
  if (isTerminal(task.status)) {
    throw new GatewayError('task_not_cancellable', `The task has already ${task.status}.`, {
      param: 'task_id',
    });
  }
  try {
    await port.cancel(task.id);
  } catch (error) {
    // The cancellation may have succeeded although its response was lost.
    const after = await tasks.find(task.id);
    if (after?.error?.code !== 'task_cancelled') throw error;
    return after;
  }
  return (await tasks.find(task.id)) ?? task;
}
