import { createRecent } from '../base/recent.ts';
import { GatewayError } from '../errors/errors.ts';
import type { Logger } from '../observability/log.ts';

/**
 * A token bucket per IP address. Requests with a valid key, token or link are not counted, so other senders at the same
 * address cannot cause them to be rejected.
 */
export interface AddressLimit {
  /** Counts a request without a credential. Throws rate_limit_exceeded, which also closes the connection. */
  take(address: string): void;
  /** Counts a request with a wrong credential, which costs more. Throws rate_limit_exceeded. */
  takeForWrong(address: string): void;
}

interface Bucket {
  tokens: number;
  at: number;
}

export interface AddressLimitDeps {
  readonly now: () => number;
  readonly log: Pick<Logger, 'warn'>;
}

const addressesMax = 50_000;
const burstSeconds = 10;
const wrongCost = 5;

/** @param perSecond - 0 means no limit. */
export function createAddressLimit(perSecond: number, { now, log }: AddressLimitDeps): AddressLimit {
  const full = perSecond * burstSeconds;
  const buckets = createRecent<Bucket>(addressesMax);

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
    if (bucket.tokens < 1) throw tooManyRequests(perSecond, bucket.tokens);
    bucket.tokens = Math.max(bucket.tokens - tokens, -full);
  }

  return {
    take: (address) => spend(address, 1),
    takeForWrong(address) {
      spend(address, wrongCost);
      if (perSecond > 0 && bucketOf(address).tokens < 1)
        log.warn(
          { address },
          'an IP address has sent so many wrong keys or tokens that its requests without a credential are rejected',
        );
    },
  };
}

function tooManyRequests(perSecond: number, tokens: number): GatewayError {
  return new GatewayError(
    'rate_limit_exceeded',
    `Without a valid key, an IP address is limited to ${perSecond} requests per second.`,
    {
      retryAfterSeconds: Math.max(1, Math.ceil((1 - tokens) / perSecond)),
      headers: { connection: 'close' },
    },
  );
}
