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
 * Checks the HMAC-SHA256 of the body, whose key is the secret that we send as `webhook_secret`. This follows the
 * vendor's published skill. Older notes say that a header contains the secret itself, and we have not verified which is
 * true. Without `callback_secret`, every callback is accepted, because it only triggers a poll.
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
