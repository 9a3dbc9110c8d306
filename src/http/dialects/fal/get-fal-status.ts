import { z } from 'zod';
import { isTerminal } from '../../../task/task.ts';
import { jsonReply, keyRoute, type Route } from '../../route.ts';
import { findOwnTask } from '../../videos/own-task.ts';
import { pollAfterSeconds } from '../../videos/query-task.ts';
import { falDialect } from './fal-dialect.ts';
import type { DialectDeps } from '../dialect-deps.ts';
import { falRequestParams, falRequestSchema, presentFalRequest } from './fal-request.ts';

export function getFalStatus(deps: DialectDeps): Route {
  return keyRoute({
    operationId: 'getFalStatus',
    scope: 'read_own',
    summary: 'Get the status of a queued request',
    description: 'Works for all of the account’s tasks, whichever API created them. `logs` is always empty.',
    dialect: falDialect,
    method: 'get',
    reads: 'one',
    paths: ['/fal/:owner/:name/requests/:task_id/status'],
    input: z.object({ params: falRequestParams }),
    success: { description: 'The request’s current state.', schema: falRequestSchema },
    errors: ['task_not_found'],
    async handle({ params, reach }) {
      const task = await findOwnTask(deps.tasks, { id: params.task_id, reach });
      const headers = isTerminal(task.status) ? {} : { 'retry-after': String(pollAfterSeconds(task, deps)) };
      return jsonReply(presentFalRequest(task, { ...params, publicUrl: deps.publicUrl }), headers);
    },
  });
}
