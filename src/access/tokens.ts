import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { randomBase62 } from '../base/ids.ts';
import type { RandomBytes } from '../base/ids.ts';
import { createRecent } from '../process/recent.ts';

/** A fresh secret: shown to its owner once, stored as `hmac` only. */
export interface NewToken {
  readonly token: string;
  /** What the token is stored as, and found by. */
  readonly hmac: string;
  /** To recognise the token by. */
  readonly prefix: string;
}

/** Secrets of one kind that this gateway has issued: API keys, or operators' tokens. */
export interface Tokens<Found> {
  readonly newToken: () => NewToken;
  /**
   * What is stored of the token in an Authorization header, as it was no more than three seconds ago; its expiry is the
   * caller's to check. Undefined for everything that was never issued, whatever the reason.
   */
  find(authorization: string | undefined): Promise<Found | undefined>;
  /** Forgets what is remembered of these, so that a change is effective on this node at once. */
  forget(matches: (found: Found) => boolean): void;
}

export interface TokensDeps<Found> {
  /** Such as `sk`. */
  readonly kind: string;
  readonly load: (hmac: string) => Promise<Found | undefined>;
  /** Keys the HMACs; changing it invalidates every token. */
  readonly secret: Buffer;
  readonly now: () => number;
  readonly randomBytes: RandomBytes;
}

/** A revoked token works no longer than this on a node that knows it. The promise is 5 s. */
const cacheTtlMs = 3_000;
const cachedTokensMax = 10_000;
/** 43 base62 characters hold 256 bits. */
const secretCharacters = 43;
/** CRC-32 in hexadecimal. */
const checksumCharacters = 8;
const prefixCharacters = 8;
const bearerPattern = /^Bearer +([\x21-\x7e]+)$/i;

export function createTokens<Found extends { readonly hmac: string }>(
  deps: TokensDeps<Found>,
): Tokens<Found> {
  const pattern = new RegExp(
    `^${deps.kind}-([0-9A-Za-z]{${secretCharacters}})([0-9a-f]{${checksumCharacters}})$`,
  );
  // By SHA-256 of the token: the token itself does not stay in memory, and the duration of a look-up reveals nothing.
  // Only tokens that exist are remembered, so nobody can fill the cache with guesses.
  const cache = createRecent<Found>({ max: cachedTokensMax, ttlMs: cacheTtlMs, now: deps.now });
  const lookups = new Map<string, Promise<Found | undefined>>();
  const hmacOf = (token: string): string =>
    createHmac('sha256', deps.secret).update(token).digest('base64url');

  async function load(token: string, digest: string): Promise<Found | undefined> {
    const hmac = hmacOf(token);
    const found = await deps.load(hmac);
    if (found === undefined || !sameText(found.hmac, hmac)) {
      cache.delete(digest);
      return undefined;
    }
    cache.set(digest, found);
    return found;
  }

  /** Requests with one token that arrive together share one read. */
  function loadOnce(token: string, digest: string): Promise<Found | undefined> {
    const running = lookups.get(digest);
    if (running !== undefined) return running;
    const lookup = load(token, digest).finally(() => lookups.delete(digest));
    lookups.set(digest, lookup);
    return lookup;
  }

  return {
    newToken() {
      const secret = randomBase62(secretCharacters, deps.randomBytes);
      const token = `${deps.kind}-${secret}${checksum(secret)}`;
      return { token, hmac: hmacOf(token), prefix: token.slice(0, prefixCharacters) };
    },

    async find(authorization) {
      const token = bearerToken(authorization) ?? '';
      const [, secret, sum] = pattern.exec(token) ?? [];
      // The checksum lets a typo fail without a read of the database; it protects nothing else.
      if (secret === undefined || sum !== checksum(secret)) return undefined;
      const digest = hash('sha256', token, 'base64');
      return cache.get(digest) ?? (await loadOnce(token, digest));
    },

    forget(matches) {
      for (const [digest, found] of cache) if (matches(found)) cache.delete(digest);
    },
  };
}

/** What follows `Bearer` in an Authorization header. */
export function bearerToken(authorization: string | undefined): string | undefined {
  return bearerPattern.exec(authorization ?? '')?.[1];
}

/** Compares in constant time: the duration does not reveal where the texts differ. */
export function sameText(a: string, b: string): boolean {
  return timingSafeEqual(hash('sha256', a, 'buffer'), hash('sha256', b, 'buffer'));
}

function checksum(secret: string): string {
  return crc32(secret).toString(16).padStart(checksumCharacters, '0');
}
