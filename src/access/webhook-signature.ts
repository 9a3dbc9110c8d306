import { createHmac } from 'node:crypto';

export interface SignedMessage {
  /** All deliveries of a message share the id, so that receivers can recognise duplicates. */
  readonly id: string;
  readonly at: number;
  readonly body: string;
  /** Secrets in the form `whsec_…`, newest first. */
  readonly secrets: readonly string[];
}

/** Follows Standard Webhooks: an HMAC-SHA256 over `id.timestamp.body`, with one signature per secret. */
export function webhookHeaders({ id, at, body, secrets }: SignedMessage): Record<string, string> {
  const timestamp = Math.floor(at / 1000).toString();
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  });
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  };
}
