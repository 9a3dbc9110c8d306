import { z } from 'zod';
import { isWithin, type Reach } from '../../base/key-scope.ts';
import { GatewayError } from '../../errors/errors.ts';
import { taskIdPattern } from '../../base/ids.ts';
import type { TaskKind } from '../../base/task-kind.ts';
import type { Task } from '../../task/record.ts';
import type { TaskStore } from '../../store/tasks.ts';

/**
 * An empty id in the path is a missing parameter. Any text that does not look like one of our ids is an unknown task.
 */
export const taskParams = z.object({ task_id: z.string().min(1) });

export async function findOwnTask(
  tasks: Pick<TaskStore, 'find'>,
  { id, reach, kind }: { readonly id: string; readonly reach: Reach; readonly kind?: TaskKind },
): Promise<Task> {
  const task = taskIdPattern.test(id) ? await tasks.find(id) : undefined;
  if (task === undefined || !isWithin(reach, task) || (kind ?? task.kind) !== task.kind) throw taskNotFound();
  return task;
}

export function taskNotFound(): GatewayError {
  return new GatewayError('task_not_found', 'There is no task with this id.', { param: 'task_id' });
}
