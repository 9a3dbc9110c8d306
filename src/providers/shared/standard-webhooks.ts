import { createHmac, timingSafeEqual } from 'node:crypto';
import type { CallbackContext, UpstreamCallback } from '../provider.ts';

/**
 * Checks callbacks of vendors that sign them if a secret is configured. With a secret, an unsigned callback is not
 * genuine.
 */
export async function verifyStandardWebhook(
  callback: UpstreamCallback,
  { credential, now }: Pick<CallbackContext, 'credential' | 'now'>,
): Promise<boolean> {
  const { callbackSecret } = credential;
  return callbackSecret === undefined || isStandardWebhook(callback, callbackSecret, now);
}

const ageMaxSeconds = 300;

/**
 * Follows the Standard Webhooks specification: HMAC-SHA256 over `<id>.<timestamp>.<body>`, with one signature per valid
 * secret. The secret is base64 with the prefix `whsec_`. `now` is in Unix milliseconds.
 */
function isStandardWebhook({ header, raw }: UpstreamCallback, secret: string, now: number): boolean {
  const [id, timestamp, signatures] = ['id', 'timestamp', 'signature'].map((name) =>
    header(`webhook-${name}`),
  );
  if (id === undefined || timestamp === undefined || signatures === undefined) return false;
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(now / 1000 - Number(timestamp)) > ageMaxSeconds) return false;
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(raw).digest();
  return signatures.split(' ').some((signature) => {
    const [version, text] = signature.split(',');
    const given = Buffer.from(text ?? '', 'base64');
    return version === 'v1' && given.length === expected.length && timingSafeEqual(given, expected);
  });
}
