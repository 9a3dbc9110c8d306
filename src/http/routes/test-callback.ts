import { z } from 'zod';
import { GatewayError } from '../../errors/errors.ts';
import { checkCallback } from '../address-checks.ts';
import { jsonBody } from '../body.ts';
import { callbackUrl } from '../body-fields.ts';
import type { RouteDeps } from '../deps.ts';
import { jsonReply, keyRoute, type Route } from '../route.ts';

const body = z
  .object({ url: callbackUrl.meta({ description: 'The URL to which the event is sent.' }) })
  .meta({ examples: [{ url: 'https://example.com/hooks' }] });

const triedSchema = z
  .object({
    object: z.literal('callback.test'),
    id: z.string().meta({ description: 'The request’s `webhook-id`.' }),
    status: z.int().nullable().meta({ description: 'Null if there was no response.' }),
    error: z.string().nullable(),
    duration_ms: z.int(),
  })
  .meta({ id: 'CallbackTest' });

export function testCallback(deps: Pick<RouteDeps, 'tryCallback' | 'checkCallbackUrl'>): Route {
  return keyRoute({
    operationId: 'testCallback',
    scope: 'create',
    summary: 'Send a test event to your server',
    description:
      'Sends one event of the type `test`, signed like a callback, and returns your server’s response. The same URLs are allowed as for callbacks. The event is not retried and belongs to no task.',
    tag: 'Account',
    method: 'post',
    paths: ['/v1/callbacks/test'],
    input: z.object({ body }),
    readBody: jsonBody,
    success: { description: 'Your server’s response.', schema: triedSchema },
    errors: ['callback_url_not_allowed', 'missing_parameter', 'concurrency_limit_exceeded'],
    async handle({ body: { url }, caller: { account } }) {
      if (url === undefined)
        throw new GatewayError('missing_parameter', 'A test requires a URL.', { param: 'url' });
      checkCallback(url, deps, 'url');
      const { id, status, error, durationMs } = await deps.tryCallback(account, url);
      return jsonReply({
        object: 'callback.test',
        id,
        status: status ?? null,
        error: error ?? null,
        duration_ms: durationMs,
      });
    },
  });
}
