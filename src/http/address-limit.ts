import { LRUCache } from 'lru-cache';
import { GatewayError } from '../errors/errors.ts';

/** A token bucket for each address, for requests of whoever has not shown a key. */
export interface AddressLimit {
  /** Nothing is limited by address. */
  readonly isOff: boolean;
  /** Throws rate_limit_exceeded, which ends the connection. */
  take(address: string): void;
  /** It has shown a key or a token: their own limits apply to it. */
  giveBack(address: string): void;
  /** It has shown a wrong one. */
  charge(address: string): void;
}

interface Bucket {
  tokens: number;
  at: number;
}

const addressesMax = 50_000;
const burstSeconds = 10;
/** What a wrong key costs, in requests. */
const wrongKeyCost = 4;

/** `perSecond`: 0: no limit. */
export function createAddressLimit(perSecond: number, now: () => number): AddressLimit {
  const full = perSecond * burstSeconds;
  const buckets = new LRUCache<string, Bucket>({ max: addressesMax });

  function bucketOf(address: string): Bucket {
    const at = now();
    const bucket = buckets.get(address) ?? { tokens: full, at };
    const earned = (Math.max(0, at - bucket.at) / 1000) * perSecond;
    bucket.tokens = Math.min(full, bucket.tokens + earned);
    bucket.at = at;
    buckets.set(address, bucket);
    return bucket;
  }

  function spend(address: string, tokens: number): void {
    if (perSecond === 0) return;
    const bucket = bucketOf(address);
    bucket.tokens = Math.max(bucket.tokens - tokens, -full);
  }

  return {
    isOff: perSecond === 0,
    take(address) {
      if (perSecond === 0) return;
      const bucket = bucketOf(address);
      if (bucket.tokens < 1) throw tooManyRequests(perSecond, bucket.tokens);
      bucket.tokens -= 1;
    },
    giveBack: (address) => spend(address, -1),
    charge: (address) => spend(address, wrongKeyCost),
  };
}

function tooManyRequests(perSecond: number, tokens: number): GatewayError {
  return new GatewayError(
    'rate_limit_exceeded',
    `An address may make ${perSecond} requests a second without a valid key.`,
    {
      retryAfterSeconds: Math.max(1, Math.ceil((1 - tokens) / perSecond)),
      headers: { connection: 'close' },
    },
  );
}
