import { createHmac } from 'node:crypto';

export interface SignedMessage {
  /** Stable over retries: receivers recognise a repetition by it. */
  readonly id: string;
  /** Unix milliseconds. */
  readonly at: number;
  readonly body: string;
  /** `whsec_…`, newest first. */
  readonly secrets: readonly string[];
}

/** The headers of Standard Webhooks: HMAC-SHA256 over `id.timestamp.body`, one signature per secret. */
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
