import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { randomBase62, type RandomBytes } from '../base/ids.ts';
import { createRecent } from '../base/recent.ts';

/** Only the HMAC is stored, so the token cannot be shown again. */
export interface NewToken {
  readonly token: string;
  readonly hmac: string;
  readonly prefix: string;
}

export interface Tokens<Found> {
  readonly newToken: (randomBytes?: RandomBytes) => NewToken;
  hmacOf(token: string): string | undefined;
  /**
   * Takes the value of an Authorization header. Unless `areFresh` is set, the record may be up to three seconds old.
   * The caller must check expiry.
   */
  find(authorization: string | undefined): Promise<Found | undefined>;
  forget(matches: (found: Found) => boolean): void;
}

export interface TokensDeps<Found> {
  readonly kind: string;
  readonly load: (hmac: string) => Promise<Found | undefined>;
  /** If true, every request reads the database, so a revocation takes effect on every node immediately. */
  readonly areFresh?: boolean;
  /** The HMAC key. Changing it invalidates every token. */
  readonly secret: Buffer;
  readonly now: () => number;
  readonly randomBytes: RandomBytes;
}

/** A node may accept a revoked token for this long. The documented limit is 5 s. */
const cacheTtlMs = 3_000;
const cachedTokensMax = 10_000;
/** 43 base62 characters hold 256 bits. */
const secretCharacters = 43;
const checksumCharacters = 8;
const prefixCharacters = 8;
const bearerPattern = /^Bearer +([\x21-\x7e]+)$/i;

export function tokenHmac(token: string, secret: Buffer): string {
  return createHmac('sha256', secret).update(token).digest('base64url');
}

export function createTokens<Found extends { readonly hmac: string }>(
  deps: TokensDeps<Found>,
): Tokens<Found> {
  const pattern = new RegExp(
    `^${deps.kind}-([0-9A-Za-z]{${secretCharacters}})([0-9a-f]{${checksumCharacters}})$`,
  );
  // Keyed by the token's SHA-256, so that the token itself does not stay in memory and lookup times reveal nothing.
  // Only existing tokens are cached, so guesses cannot fill the cache.
  const cache = createRecent<Found>(cachedTokensMax, { ttlMs: cacheTtlMs, now: deps.now });
  const lookups = new Map<string, Promise<Found | undefined>>();
  const hmac = (token: string): string => tokenHmac(token, deps.secret);

  /** Saves a database read for mistyped tokens. This is not a security check. */
  function isWellFormed(token: string): boolean {
    const [, secret, sum] = pattern.exec(token) ?? [];
    return secret !== undefined && sum === checksum(secret);
  }

  async function read(token: string): Promise<Found | undefined> {
    const stored = hmac(token);
    const found = await deps.load(stored);
    return found !== undefined && sameText(found.hmac, stored) ? found : undefined;
  }

  async function load(token: string, digest: string): Promise<Found | undefined> {
    const found = await read(token);
    if (found === undefined) cache.delete(digest);
    else cache.set(digest, found);
    return found;
  }

  function loadOnce(token: string, digest: string): Promise<Found | undefined> {
    const running = lookups.get(digest);
    if (running !== undefined) return running;
    const lookup = load(token, digest).finally(() => lookups.delete(digest));
    lookups.set(digest, lookup);
    return lookup;
  }

  return {
    newToken(randomBytes = deps.randomBytes) {
      const secret = randomBase62(secretCharacters, randomBytes);
      const token = `${deps.kind}-${secret}${checksum(secret)}`;
      return { token, hmac: hmac(token), prefix: token.slice(0, prefixCharacters) };
    },

    hmacOf: (token) => (isWellFormed(token) ? hmac(token) : undefined),

    async find(authorization) {
      const token = bearerToken(authorization) ?? '';
      if (!isWellFormed(token)) return undefined;
      if (deps.areFresh === true) return read(token);
      const digest = hash('sha256', token, 'base64');
      return cache.get(digest) ?? (await loadOnce(token, digest));
    },

    forget(matches) {
      for (const [digest, found] of cache) if (matches(found)) cache.delete(digest);
    },
  };
}

export function bearerToken(authorization: string | undefined): string | undefined {
  return bearerPattern.exec(authorization ?? '')?.[1];
}

/** Compares in constant time, so that the duration does not reveal where the texts differ. */
export function sameText(a: string, b: string): boolean {
  return timingSafeEqual(hash('sha256', a, 'buffer'), hash('sha256', b, 'buffer'));
}

function checksum(secret: string): string {
  return crc32(secret).toString(16).padStart(checksumCharacters, '0');
}
