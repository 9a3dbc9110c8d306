import { z } from 'zod';
import { jsonReply, keyRoute, type Route } from '../../route.ts';
import { anyFields } from '../../body-fields.ts';
import { falBody } from './fal-body.ts';
import { createFalTask, falCreate } from './fal-create.ts';
import type { DialectDeps } from '../dialect-deps.ts';
import { falModelParams, falRequestSchema, presentFalRequest } from './fal-request.ts';
import { namedReply } from './fal-result.ts';

export function submitFalRequest(deps: DialectDeps): Route {
  return keyRoute({
    ...falCreate,
    operationId: 'submitFalRequest',
    scope: 'create',
    summary: 'Submit a request to the queue',
    description: '`Idempotency-Key` works as it does for `POST /v1/videos/generations`.',
    paths: ['/fal/:owner/:name'],
    input: z.object({
      params: falModelParams,
      query: z.object({
        fal_webhook: z.string().optional().meta({ description: 'Equivalent to `metadata.callback_url`.' }),
      }),
      body: anyFields,
    }),
    documentedBody: falBody,
    success: {
      description: 'The task has been created and started, and its hold has been taken.',
      schema: falRequestSchema,
    },
    async handle({ params, query: { fal_webhook: webhook }, body, caller, meta }) {
      const create = { route: 'submitFalRequest', params, webhook, body, caller, meta };
      const { task, headers, warnings } = await createFalTask(create, deps);
      const presented = presentFalRequest(task, { ...params, publicUrl: deps.publicUrl, warnings });
      return jsonReply(presented, { ...headers, ...namedReply(task) });
    },
  });
}
