import { createHmac, randomUUID } from 'node:crypto';

/**
 * Returns the Standard Webhooks headers for a body. The key follows `whsec_`. Uses real time, because receivers compare
 * the timestamp with their own clocks.
 */
export function signStandardWebhook(secret: string, body: string): Record<string, string> {
  const id = randomUUID();
  const timestamp = String(Math.floor(Date.now() / 1000));
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
}
