import { z } from 'zod';
import type { RandomBytes } from '../base/ids.ts';
import { accountDeleted } from '../errors/errors.ts';
import type { RouteDeps } from './deps.ts';
import { jsonReply, type Reply } from './route.ts';

const webhookSecretBytes = 24;

export function newWebhookSecret(randomBytes: RandomBytes): string {
  return `whsec_${Buffer.from(randomBytes(webhookSecretBytes)).toString('base64')}`;
}

export const webhookSecretSuccess = {
  description: 'The new secret. It will not be shown again.',
  schema: z
    .object({ object: z.literal('webhook_secret'), account: z.string(), webhook_secret: z.string() })
    .meta({ id: 'WebhookSecret' }),
};

export type WebhookSecretDeps = Pick<RouteDeps, 'accounts' | 'secrets' | 'randomBytes' | 'now'>;

/** The previous two secrets stay valid. `by` is an operator or a key. */
export async function replaceWebhookSecret(
  { account, by, reason }: { readonly account: string; readonly by: string; readonly reason: string },
  { accounts, secrets, randomBytes, now }: WebhookSecretDeps,
): Promise<Reply> {
  const secret = newWebhookSecret(randomBytes);
  const change = { at: now(), by, action: 'webhook_secret_rotated', reason };
  const sealed = secrets.seal({ purpose: 'webhook-secret', id: account }, secret);
  if (!(await accounts.addWebhookSecret(account, sealed, change))) throw accountDeleted(account);
  return jsonReply({ object: 'webhook_secret', account, webhook_secret: secret });
}
