import { createPublicKey, type KeyObject } from 'node:crypto';
import { z } from 'zod';
import { keysUrl } from './fal-address.ts';
import { isSuccess, readableItems, unreadableError } from '../shared/http-outcome.ts';
import type { CallbackContext } from '../provider.ts';

export interface FalKeys {
  /**
   * Returns true if `fits` accepts one of the vendor's keys. If none matches, the vendor may have rotated its keys, so
   * they are fetched again. This happens at most once per minute, because anyone can send a callback that matches no
   * key.
   */
  some(context: CallbackContext, fits: (key: KeyObject) => boolean): Promise<boolean>;
}

interface Fetched {
  readonly keys: Promise<readonly KeyObject[]>;
  /** Unix milliseconds. */
  readonly at: number;
  /** Unix milliseconds of the last request for newer keys, successful or not. */
  readonly askedAt: number;
}

/** The vendor asks clients not to cache keys for longer than this. */
const keptMaxMs = 24 * 3600 * 1000;
const fetchedAgainMs = 60_000;
/** Most channels use the vendor's URL. Only channels on other hosts add entries to the cache. */
const addressesMax = 20;

export function createFalKeys(): FalKeys {
  const known = new Map<string, Fetched>();

  function fetched(
    context: CallbackContext,
    isRecent: (last: Fetched) => boolean,
  ): Promise<readonly KeyObject[]> {
    const url = keysUrl(context.baseUrl);
    const last = known.get(url);
    if (last !== undefined && isRecent(last)) return last.keys;
    const keys = fetchKeys(url, context);
    if (known.size >= addressesMax) known.clear();
    known.set(url, { keys, at: context.now, askedAt: context.now });
    keys.catch(() =>
      last === undefined ? known.delete(url) : known.set(url, { ...last, askedAt: context.now }),
    );
    return keys;
  }

  return {
    async some(context, fits) {
      const keys = await fetched(context, ({ at }) => context.now - at < keptMaxMs);
      if (keys.some(fits)) return true;
      const newest = await fetched(context, ({ askedAt }) => context.now - askedAt < fetchedAgainMs);
      return newest !== keys && newest.some(fits);
    },
  };
}

const keySchema = z.object({
  kty: z.literal('OKP'),
  crv: z.literal('Ed25519'),
  x: z.string().regex(/^[\w-]{43}$/),
});
const keysMax = 100;
const keysSchema = z.object({ keys: readableItems(keySchema) });

async function fetchKeys(url: string, { request, signal }: CallbackContext): Promise<readonly KeyObject[]> {
  const answer = await request({ method: 'GET', url, signal });
  const keys = isSuccess(answer) ? keysSchema.safeParse(answer.json).data?.keys : undefined;
  if (keys === undefined || keys.length === 0) throw unreadableError(answer, 'it has no public keys');
  return keys
    .slice(0, keysMax)
    .map(({ kty, crv, x }) => createPublicKey({ key: { kty, crv, x }, format: 'jwk' }));
}
