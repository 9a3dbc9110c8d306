import { z } from 'zod';
import { accountParams, findAccount, optionalReason } from '../admin-input.ts';
import { adminRoute, type Route } from '../route.ts';
import { replaceWebhookSecret, webhookSecretSuccess, type WebhookSecretDeps } from '../webhook-secret.ts';

export function rotateWebhookSecret(deps: WebhookSecretDeps): Route {
  return adminRoute({
    operationId: 'rotateWebhookSecret',
    access: 'access',
    summary: "Replace an account's webhook secret",
    description:
      'The two previous secrets stay valid, and the next rotation invalidates the older of them. Callbacks carry a signature for each valid secret.',
    method: 'post',
    paths: ['/admin/v1/accounts/:account/webhook-secret/rotate'],
    input: z.object({ params: accountParams, body: z.object({ reason: optionalReason }) }),
    success: webhookSecretSuccess,
    errors: ['account_not_found', 'action_not_possible'],
    async handle({ params, body: { reason }, operator: by }) {
      const account = await findAccount(deps.accounts, params.account);
      return replaceWebhookSecret({ account: account.id, by, reason }, deps);
    },
  });
}
