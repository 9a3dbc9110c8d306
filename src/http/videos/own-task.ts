import { z } from 'zod';
import type { Caller } from '../../access/caller.ts';
import { GatewayError } from '../../errors/errors.ts';
import { taskIdPattern } from '../../base/ids.ts';
import type { TaskKind } from '../../base/task-kind.ts';
import type { Task } from '../../task/record.ts';
import type { TaskStore } from '../../store/tasks.ts';

/** An empty id in the path is a missing parameter; anything that is not one of our ids is an unknown task. */
export const taskParams = z.object({ task_id: z.string().min(1) });

/** The caller's own task, of this kind or of any; another account's is as unknown as one that never was. */
export async function findOwnTask(
  tasks: Pick<TaskStore, 'find'>,
  { id, caller, kind }: { readonly id: string; readonly caller: Caller; readonly kind?: TaskKind },
): Promise<Task> {
  const task = taskIdPattern.test(id) ? await tasks.find(id) : undefined;
  if (task === undefined || task.account !== caller.account || (kind ?? task.kind) !== task.kind)
    throw taskNotFound();
  return task;
}

export function taskNotFound(): GatewayError {
  return new GatewayError('task_not_found', 'There is no task with this id.', { param: 'task_id' });
}
