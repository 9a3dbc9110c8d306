import { z } from 'zod';
import { keyRoute } from '../route.ts';
import type { Route } from '../route.ts';
import { replaceWebhookSecret, webhookSecretSuccess } from '../webhook-secret.ts';
import type { WebhookSecretDeps } from '../webhook-secret.ts';

export function rotateOwnWebhookSecret(deps: WebhookSecretDeps): Route {
  return keyRoute({
    operationId: 'rotateOwnWebhookSecret',
    scope: 'manage',
    summary: 'Replace the secret that signs callbacks',
    description:
      'Of the whole account, with any of its keys. The two secrets before it stay valid, and the next rotation ends the older one: callbacks carry a signature of each.',
    tag: 'Account',
    method: 'post',
    paths: ['/v1/webhook-secret/rotate'],
    input: z.object({}),
    success: webhookSecretSuccess,
    handle: ({ caller: { account, key: by } }) => replaceWebhookSecret({ account, by, reason: '' }, deps),
  });
}
