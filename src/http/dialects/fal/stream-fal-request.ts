import { z } from 'zod';
import { eventStream, eventStreamType } from '../../event-stream.ts';
import { keyRoute, type Route } from '../../route.ts';
import { anyFields } from '../../body-fields.ts';
import { falBody } from './fal-body.ts';
import { falCreate } from './fal-create.ts';
import type { DialectDeps } from '../dialect-deps.ts';
import { falModelParams } from './fal-request.ts';
import { falFailures, falResultSchema } from './fal-result.ts';
import { runFal } from './fal-run.ts';

export function streamFalRequest(deps: DialectDeps): Route {
  return keyRoute({
    ...falCreate,
    operationId: 'streamFalRequest',
    scope: 'create',
    summary: 'Generate a video in one request, as a stream',
    description:
      'Works like `POST /fal/run/{owner}/{name}`. The result is the only event, because videos are not delivered in parts.',
    paths: ['/fal/run/:owner/:name/stream'],
    input: z.object({ params: falModelParams, body: anyFields }),
    documentedBody: falBody,
    success: { description: 'The video, as one event.', event: falResultSchema, mediaType: eventStreamType },
    otherAnswers: falFailures,
    async handle(asked) {
      const reply = await runFal({ route: 'streamFalRequest', ...asked }, deps);
      return reply.status === 200 ? eventStream([`data: ${reply.body}\n\n`], reply.headers) : reply;
    },
  });
}
