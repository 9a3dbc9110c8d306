import { createHmac } from 'node:crypto';
import { readBflJob } from './bfl-answer.ts';
import { isSameSecret } from '../shared/signature.ts';
import type { CallbackContext, CallbackNews, UpstreamCallback } from '../provider.ts';

const pending = new Set(['pending', 'reasoning']);

export function parseBflCallback({ body }: UpstreamCallback): CallbackNews {
  const word = readBflJob(body)?.word.toLowerCase();
  return { ended: word !== undefined && !pending.has(word) };
}

/**
 * HMAC-SHA256 over the body with the secret that was sent as `webhook_secret`, by the vendor's own skill; older notes
 * have the secret itself in a header, and which of the two is sent is not verified. A channel without `callback_secret`
 * sends no secret and accepts every callback as the hint that it is.
 */
export async function verifyBflCallback(
  { header, raw }: UpstreamCallback,
  { credential }: Pick<CallbackContext, 'credential'>,
): Promise<boolean> {
  const { callbackSecret } = credential;
  if (callbackSecret === undefined) return true;
  const signature = header('x-bfl-signature')?.replace(/^sha256=/i, '');
  if (signature !== undefined)
    return isSameSecret(
      signature.toLowerCase(),
      createHmac('sha256', callbackSecret).update(raw).digest('hex'),
    );
  return isSameSecret(header('x-webhook-secret') ?? '', callbackSecret);
}
