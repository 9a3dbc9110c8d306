import { z } from 'zod';
import type { RouteDeps } from '../deps.ts';
import { presentTaskRequest, taskRequestSchema } from '../presenters/task-request.ts';
import { taskNotFound, taskParams } from '../videos/own-task.ts';
import { adminRoute, jsonReply, type Route } from '../route.ts';

export function getTaskRequest({ tasks, requests }: Pick<RouteDeps, 'tasks' | 'requests'>): Route {
  return adminRoute({
    operationId: 'getTaskRequest',
    access: 'content',
    isShownWhole: true,
    summary: 'Show the request that a caller sent for a task',
    description:
      'Returns the prompt, the links and the settings, which are sealed everywhere else. Each call is recorded in the audit log.',
    method: 'get',
    paths: ['/admin/v1/tasks/:task_id/request'],
    input: z.object({ params: taskParams }),
    success: { description: 'The request.', schema: taskRequestSchema },
    errors: ['task_not_found'],
    async handle({ params: { task_id: id } }) {
      const [task, record] = await Promise.all([tasks.find(id), requests.find(id)]);
      if (task === undefined) throw taskNotFound();
      return jsonReply(presentTaskRequest(id, record), { 'cache-control': 'no-store' });
    },
  });
}
