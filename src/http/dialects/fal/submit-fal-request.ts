import { z } from 'zod';
import { jsonBody, videoBodyBytesMax } from '../../body.ts';
import { jsonReply, keyRoute } from '../../route.ts';
import type { Route } from '../../route.ts';
import { createVideoTask, videoCreateErrors } from '../../videos/create-video-task.ts';
import { findOwnTask } from '../../videos/own-task.ts';
import { inTheirWords } from '../their-words.ts';
import { decodeFal, falBody, falName } from './fal-body.ts';
import { falDialect, falStatuses } from './fal-dialect.ts';
import type { FalDeps } from './fal-dialect.ts';
import { falModelParams, falRequestSchema, presentFalRequest } from './fal-request.ts';

export function submitFalRequest(deps: FalDeps): Route {
  const { catalogue, publicUrl } = deps;
  return keyRoute({
    operationId: 'submitFalRequest',
    summary: 'Submit a request to the queue',
    description: '`Idempotency-Key` works as with `POST /v1/videos/generations`.',
    tag: 'Videos',
    dialect: falDialect,
    method: 'post',
    paths: ['/fal/:owner/:name'],
    input: z.object({
      params: falModelParams,
      query: z.object({
        fal_webhook: z.string().optional().meta({ description: 'Our `metadata.callback_url`.' }),
      }),
      body: falBody,
    }),
    readBody: jsonBody(videoBodyBytesMax),
    headers: z.object({ 'idempotency-key': z.string().optional() }),
    success: { description: 'The task, its hold and its workflow exist.', schema: falRequestSchema },
    errors: videoCreateErrors,
    statuses: falStatuses,
    async handle({ params, query: { fal_webhook: webhook }, body: asked, caller, meta }) {
      const whole = `${params.owner}/${params.name}`;
      const isWhole = catalogue.models(caller).some(({ id }) => id === whole);
      const nameOf = falName(asked);
      const { task, headers, warnings } = await inTheirWords(nameOf, async () => {
        const body = decodeFal(asked, isWhole ? whole : params.name, webhook);
        return createVideoTask({ route: 'submitFalRequest', body, unread: [], caller, meta }, deps);
      });
      const record = await findOwnTask(deps.tasks, { id: task.id, caller, kind: 'video' });
      const ignored = [...warnings, ...task.warnings].map(nameOf);
      return jsonReply(presentFalRequest(record, { ...params, publicUrl, warnings: ignored }), {
        ...headers,
        'x-fal-request-id': task.id,
      });
    },
  });
}
