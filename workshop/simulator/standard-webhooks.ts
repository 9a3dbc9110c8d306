import { createHmac, randomUUID } from 'node:crypto';

/** Headers of Standard Webhooks over a body; the key follows `whsec_`. In real time, as who receives it will compare it with. */
export function signStandardWebhook(secret: string, body: string): Record<string, string> {
  const id = randomUUID();
  const timestamp = String(Math.floor(Date.now() / 1000));
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
}
