import { z } from 'zod';
import { requireRedeliverable } from '../../task/require-redeliverable.ts';
import type { RouteDeps } from '../deps.ts';
import { callbackSchema, presentOwnCallback } from '../presenters/callback.ts';
import { jsonReply, keyRoute, type Route } from '../route.ts';
import { findOwnTask, taskParams } from '../videos/own-task.ts';

type Deps = Pick<RouteDeps, 'tasks' | 'requests' | 'port'>;

export function redeliverCallback({ tasks, requests, port }: Deps): Route {
  return keyRoute({
    operationId: 'redeliverCallback',
    scope: 'create',
    summary: 'Send a task’s callback again',
    description:
      'Sends the callback now, to the URL that the task was created with, even if it has been delivered before. The callback keeps its `webhook-id`, is retried as usual if it is not accepted, and replaces any attempts that were still due.',
    tag: 'Account',
    method: 'post',
    paths: ['/v1/callbacks/:task_id/redeliver'],
    input: z.object({ params: taskParams }),
    success: {
      description: 'The callback’s state before the new attempt, which follows within seconds.',
      schema: callbackSchema,
    },
    errors: ['task_not_found', 'missing_parameter', 'action_not_possible'],
    async handle({ params: { task_id: id }, reach }) {
      const task = await findOwnTask(tasks, { id, reach });
      requireRedeliverable(task, await requests.find(id));
      await port.redeliver(task.id);
      return jsonReply(presentOwnCallback(task));
    },
  });
}
