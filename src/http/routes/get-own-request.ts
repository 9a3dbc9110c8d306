import { z } from 'zod';
import type { RouteDeps } from '../deps.ts';
import { presentTaskRequest, taskRequestSchema } from '../presenters/task-request.ts';
import { findOwnTask, taskParams } from '../videos/own-task.ts';
import { jsonReply, keyRoute, type Route } from '../route.ts';

export function getOwnRequest({ tasks, requests }: Pick<RouteDeps, 'tasks' | 'requests'>): Route {
  return keyRoute({
    operationId: 'getOwnRequest',
    scope: 'read_own',
    summary: 'Get a task’s request, so you can repeat it with changes',
    description: 'Returns the request for a video or image: its prompt, media URLs and settings.',
    tag: 'Account',
    method: 'get',
    paths: ['/v1/requests/:task_id'],
    input: z.object({ params: taskParams }),
    success: { description: 'The request.', schema: taskRequestSchema },
    errors: ['task_not_found', 'missing_parameter'],
    async handle({ params: { task_id: id }, reach }) {
      const task = await findOwnTask(tasks, { id, reach });
      return jsonReply(presentTaskRequest(task.id, await requests.glance(task.id)), {
        'cache-control': 'no-store',
      });
    },
  });
}
