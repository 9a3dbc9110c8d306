import { z } from 'zod';
import type { RouteDeps } from '../deps.ts';
import { presentTask, taskSchemas } from '../presenters/video-task.ts';
import { jsonReply, keyRoute, type Route } from '../route.ts';
import { cancelTask } from './cancel-task.ts';
import { findOwnTask, taskParams } from './own-task.ts';
import type { TaskRoute } from './query-task.ts';

export type CancelDeps = Pick<RouteDeps, 'tasks' | 'port' | 'mediaUrl'>;

export function cancelRoute({ kind, ...route }: TaskRoute, deps: CancelDeps): Route {
  return keyRoute({
    ...route,
    scope: 'create',
    description:
      'Ends the task immediately if nothing has been sent upstream. Otherwise, asks the upstream to cancel the job. If the upstream does not cancel it, the task keeps running and the response is 409.',
    method: 'post',
    input: z.object({ params: taskParams }),
    success: { description: 'The task is cancelled, and its hold is released.', schema: taskSchemas[kind] },
    errors: ['task_not_found', 'task_not_cancellable'],
    async handle({ params, reach }) {
      const task = await findOwnTask(deps.tasks, { id: params.task_id, reach, kind });
      return jsonReply(presentTask(await cancelTask(task, deps), deps.mediaUrl));
    },
  });
}
