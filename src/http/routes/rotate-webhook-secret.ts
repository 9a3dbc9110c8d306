import { z } from 'zod';
import { accountParams, findAccount, newWebhookSecret, optionalReason } from '../admin-input.ts';
import { adminBody } from '../body.ts';
import type { RouteDeps } from '../deps.ts';
import { adminRoute, jsonReply } from '../route.ts';
import type { Route } from '../route.ts';

type Deps = Pick<RouteDeps, 'accounts' | 'secrets' | 'randomBytes' | 'now'>;

export function rotateWebhookSecret({ accounts, secrets, randomBytes, now }: Deps): Route {
  return adminRoute({
    operationId: 'rotateWebhookSecret',
    summary: "Replace an account's webhook secret",
    description:
      'The previous secret stays valid until the next rotation: callbacks carry a signature of each.',
    tag: 'Operators',
    method: 'post',
    paths: ['/admin/v1/accounts/:account/webhook-secret/rotate'],
    input: z.object({ params: accountParams, body: z.object({ reason: optionalReason }) }),
    readBody: adminBody,
    success: {
      description: 'The new secret; it will not be shown again.',
      schema: z.object({
        object: z.literal('webhook_secret'),
        account: z.string(),
        webhook_secret: z.string(),
      }),
    },
    errors: ['account_not_found'],
    async handle({ params, body, operator: by }) {
      const account = await findAccount(accounts, params.account);
      const secret = newWebhookSecret(randomBytes);
      const change = { at: now(), by, action: 'webhook_secret_rotated', reason: body.reason };
      await accounts.addWebhookSecret(account.id, secrets.seal('webhook-secret', secret), change);
      return jsonReply({ object: 'webhook_secret', account: account.id, webhook_secret: secret });
    },
  });
}
