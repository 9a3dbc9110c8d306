import { createHash, createPublicKey, verify } from 'node:crypto';
import { z } from 'zod';
import { keysUrl } from './fal-address.ts';
import { isSuccess, unreadableError } from '../shared/http-outcome.ts';
import type { CallbackContext, CallbackNews, UpstreamCallback } from '../provider.ts';

const newsSchema = z.object({ status: z.enum(['OK', 'ERROR']) });

export function parseFalCallback({ body }: UpstreamCallback): CallbackNews {
  return { ended: newsSchema.safeParse(body).success };
}

const ageMaxSeconds = 300;

/**
 * Ed25519 over the request, the user, the time and the digest of the body, by any of the vendor's public keys. All
 * callbacks are signed. Throws if the keys cannot be had.
 */
export async function verifyFalCallback(
  { header, raw }: UpstreamCallback,
  context: CallbackContext,
): Promise<boolean> {
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
  const keys = await fetchKeys(context);
  return keys.some((x) => {
    const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
    return verify(null, message, key, given);
  });
}

const keySchema = z.object({
  kty: z.literal('OKP'),
  crv: z.literal('Ed25519'),
  x: z.string().regex(/^[\w-]{43}$/),
});
const keysSchema = z.object({ keys: z.array(z.unknown()).max(100) });

/** Public: our key is not sent along. */
async function fetchKeys({ request, baseUrl, signal }: CallbackContext): Promise<string[]> {
  const answer = await request({ method: 'GET', url: keysUrl(baseUrl), signal });
  const keys = isSuccess(answer) ? keysSchema.safeParse(answer.json).data?.keys : undefined;
  const known = keys?.flatMap((key) => keySchema.safeParse(key).data?.x ?? []) ?? [];
  if (known.length === 0) throw unreadableError(answer, 'it has no public keys');
  return known;
}
