import { z } from 'zod';
import { keyRoute, type Route } from '../../route.ts';
import { findOwnTask } from '../../videos/own-task.ts';
import { missingResult } from '../../videos/video-content.ts';
import { falDialect } from './fal-dialect.ts';
import type { DialectDeps } from '../dialect-deps.ts';
import { falRequestParams } from './fal-request.ts';
import { falFailures, falResultSchema, replyWithFalResult } from './fal-result.ts';

export function getFalResult(deps: DialectDeps): Route {
  return keyRoute({
    operationId: 'getFalResult',
    scope: 'read_own',
    summary: 'Fetch the result of a request',
    dialect: falDialect,
    method: 'get',
    reads: 'one',
    paths: ['/fal/:owner/:name/requests/:task_id'],
    input: z.object({ params: falRequestParams }),
    success: { description: 'The video, or the images.', schema: falResultSchema },
    otherAnswers: falFailures,
    errors: ['task_not_found', 'result_not_ready'],
    // fal itself responds with this status.
    statuses: { result_not_ready: 400 },
    async handle({ params, reach }) {
      const task = await findOwnTask(deps.tasks, { id: params.task_id, reach });
      const reply = await replyWithFalResult(task, deps);
      if (reply === undefined) throw missingResult(task, deps);
      return reply;
    },
  });
}
