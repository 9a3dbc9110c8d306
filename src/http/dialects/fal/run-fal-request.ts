import { z } from 'zod';
import { keyRoute, type Route } from '../../route.ts';
import { anyFields } from '../../body-fields.ts';
import { falBody } from './fal-body.ts';
import { falCreate } from './fal-create.ts';
import type { DialectDeps } from '../dialect-deps.ts';
import { falModelParams } from './fal-request.ts';
import { falFailures, falResultSchema } from './fal-result.ts';
import { runFal } from './fal-run.ts';

export function runFalRequest(deps: DialectDeps): Route {
  return keyRoute({
    ...falCreate,
    operationId: 'runFalRequest',
    scope: 'create',
    summary: 'Generate a video in one request',
    description:
      'Responds when the task has ended, which takes minutes. Send an `Idempotency-Key`, so that a retry after a broken connection finds the same task. Requests to the queue do not have this problem.',
    paths: ['/fal/run/:owner/:name'],
    input: z.object({ params: falModelParams, body: anyFields }),
    documentedBody: falBody,
    success: { description: 'The video.', schema: falResultSchema },
    otherAnswers: falFailures,
    handle: (asked) => runFal({ route: 'runFalRequest', ...asked }, deps),
  });
}
