import { z } from 'zod';
import type { RouteDeps } from '../deps.ts';
import { callbackSchema, presentOwnCallback } from '../presenters/callback.ts';
import { jsonReply, keyRoute, type Route } from '../route.ts';
import { findOwnTask, taskParams } from '../videos/own-task.ts';

export function getCallback({ tasks }: Pick<RouteDeps, 'tasks'>): Route {
  return keyRoute({
    operationId: 'getCallback',
    scope: 'read_own',
    summary: 'Show the delivery attempts of a task’s callback',
    description: 'Shows every attempt with your server’s response. Works for video and image tasks.',
    tag: 'Account',
    method: 'get',
    paths: ['/v1/callbacks/:task_id'],
    input: z.object({ params: taskParams }),
    success: { description: 'The callback’s current state.', schema: callbackSchema },
    errors: ['task_not_found', 'missing_parameter'],
    async handle({ params: { task_id: id }, reach }) {
      return jsonReply(presentOwnCallback(await findOwnTask(tasks, { id, reach })));
    },
  });
}
