import { z } from 'zod';
import { isTerminal } from '../../../task/task.ts';
import { jsonReply, keyRoute, type Route } from '../../route.ts';
import { cancelTask } from '../../videos/cancel-task.ts';
import { findOwnTask } from '../../videos/own-task.ts';
import { falDialect } from './fal-dialect.ts';
import type { DialectDeps } from '../dialect-deps.ts';
import { falRequestParams } from './fal-request.ts';

const answer = (status: 'CANCELLATION_REQUESTED' | 'ALREADY_COMPLETED') =>
  z.object({ status: z.literal(status) });

export function cancelFalRequest({ tasks, port }: DialectDeps): Route {
  return keyRoute({
    operationId: 'cancelFalRequest',
    scope: 'create',
    summary: 'Cancel a queued request',
    description:
      'If the upstream does not cancel the job, the request keeps running and the response is 409.',
    dialect: falDialect,
    method: 'put',
    paths: ['/fal/:owner/:name/requests/:task_id/cancel'],
    input: z.object({ params: falRequestParams }),
    success: {
      status: 202,
      description: 'The request is cancelled.',
      schema: answer('CANCELLATION_REQUESTED'),
    },
    otherAnswers: { 400: { description: 'The request has ended.', schema: answer('ALREADY_COMPLETED') } },
    errors: ['task_not_found', 'task_not_cancellable'],
    async handle({ params, reach }) {
      const task = await findOwnTask(tasks, { id: params.task_id, reach });
      if (isTerminal(task.status)) return { ...jsonReply({ status: 'ALREADY_COMPLETED' }), status: 400 };
      await cancelTask(task, { tasks, port });
      return { ...jsonReply({ status: 'CANCELLATION_REQUESTED' }), status: 202 };
    },
  });
}
