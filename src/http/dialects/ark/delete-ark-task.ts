import { z } from 'zod';
import { jsonReply, keyRoute, type Route } from '../../route.ts';
import { cancelTask } from '../../videos/cancel-task.ts';
import { findOwnTask, taskParams } from '../../videos/own-task.ts';
import { arkDialect } from './ark-dialect.ts';
import type { DialectDeps } from '../dialect-deps.ts';

export function deleteArkTask(deps: DialectDeps): Route {
  return keyRoute({
    operationId: 'deleteArkTask',
    scope: 'create',
    summary: 'Cancel a video generation task',
    description:
      'Cancels an unfinished task, even a running one if its upstream can cancel it. A task that has ended is not removed, and the response is 409.',
    dialect: arkDialect,
    method: 'delete',
    paths: ['/api/v3/contents/generations/tasks/:task_id'],
    input: z.object({ params: taskParams }),
    success: { description: 'The task is cancelled, and its hold is released.', schema: z.object({}) },
    errors: ['task_not_found', 'task_not_cancellable'],
    async handle({ params, reach }) {
      const task = await findOwnTask(deps.tasks, { id: params.task_id, reach, kind: 'video' });
      await cancelTask(task, deps);
      return jsonReply({});
    },
  });
}
