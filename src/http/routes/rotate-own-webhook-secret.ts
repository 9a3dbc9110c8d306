import { z } from 'zod';
import { keyRoute, type Route } from '../route.ts';
import { replaceWebhookSecret, webhookSecretSuccess, type WebhookSecretDeps } from '../webhook-secret.ts';

export function rotateOwnWebhookSecret(deps: WebhookSecretDeps): Route {
  return keyRoute({
    operationId: 'rotateOwnWebhookSecret',
    scope: 'manage',
    summary: 'Replace the secret that signs callbacks',
    description:
      'Replaces the whole account’s secret, whichever of its keys is used. The two previous secrets stay valid, and the next rotation invalidates the older of them. Callbacks carry a signature for each valid secret.',
    tag: 'Account',
    method: 'post',
    paths: ['/v1/webhook-secret/rotate'],
    input: z.object({}),
    success: webhookSecretSuccess,
    errors: ['action_not_possible'],
    handle: ({ caller: { account, key: by } }) => replaceWebhookSecret({ account, by, reason: '' }, deps),
  });
}
