import { createHash, verify } from 'node:crypto';
import { z } from 'zod';
import type { FalKeys } from './fal-keys.ts';
import type { CallbackContext, CallbackNews, UpstreamCallback } from '../provider.ts';

const newsSchema = z.object({ status: z.enum(['OK', 'ERROR']) });

export function parseFalCallback({ body }: UpstreamCallback): CallbackNews {
  return { ended: newsSchema.safeParse(body).success };
}

const ageMaxSeconds = 300;

/**
 * Checks the Ed25519 signature over the request, the user, the time and the body's digest against the vendor's public
 * keys. fal signs all callbacks. Throws if the keys cannot be fetched.
 */
export function createFalVerifier(
  keys: FalKeys,
): (callback: UpstreamCallback, context: CallbackContext) => Promise<boolean> {
  return async ({ header, raw }, context) => {
    const [request, user, timestamp, signature] = ['request-id', 'user-id', 'timestamp', 'signature'].map(
      (name) => header(`x-fal-webhook-${name}`),
    );
    if (request === undefined || user === undefined || timestamp === undefined) return false;
    if (signature === undefined || !/^[0-9a-f]{128}$/i.test(signature)) return false;
    const isTime = /^\d{1,12}$/.test(timestamp);
    if (!isTime || Math.abs(context.now / 1000 - Number(timestamp)) > ageMaxSeconds) return false;
    const digest = createHash('sha256').update(raw).digest('hex');
    const message = Buffer.from([request, user, timestamp, digest].join('\n'));
    const given = Buffer.from(signature, 'hex');
    return keys.some(context, (key) => verify(null, message, key, given));
  };
}
