import { z } from 'zod';
import { jsonReply, keyRoute } from '../../route.ts';
import type { Route } from '../../route.ts';
import { findOwnTask } from '../../videos/own-task.ts';
import { falDialect, falErrorSchema, presentFalError } from './fal-dialect.ts';
import type { DialectDeps } from '../dialect-deps.ts';
import { falRequestParams } from './fal-request.ts';
import { falFailures, falResultSchema, namedReply, replyWithFalResult } from './fal-result.ts';

export function getFalResult(deps: DialectDeps): Route {
  return keyRoute({
    operationId: 'getFalResult',
    scope: 'read_own',
    summary: 'Fetch the result of a request',
    dialect: falDialect,
    method: 'get',
    paths: ['/fal/:owner/:name/requests/:task_id'],
    input: z.object({ params: falRequestParams }),
    success: { description: 'The video.', schema: falResultSchema },
    otherAnswers: { 400: { description: 'It has not ended.', schema: falErrorSchema }, ...falFailures },
    errors: ['task_not_found'],
    async handle({ params, reach }) {
      const task = await findOwnTask(deps.tasks, { id: params.task_id, reach, kind: 'video' });
      const message = 'Request is still in progress';
      const early = jsonReply(presentFalError({ message, type: '', field: '' }), namedReply(task));
      return (await replyWithFalResult(task, deps)) ?? { ...early, status: 400 };
    },
  });
}
