import { defined } from '../domain/defined.ts';
import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { LRUCache } from 'lru-cache';
import type { Caller } from '../domain/caller.ts';
import { randomBase62 } from '../domain/ids.ts';
import type { RandomBytes } from '../domain/ids.ts';
import type { ApiKey, KeyStore } from '../store/keys.ts';

export interface KeyAuth {
  /** A fresh API key: shown to its owner once, stored as `hmac` only. */
  newKey(): NewKey;
  /**
   * The caller behind an Authorization header. Undefined for everything that is not a valid key, whatever the reason:
   * callers of ours cannot distinguish an unknown key from an expired one.
   */
  authenticate(authorization: string | undefined): Promise<Caller | undefined>;
  /** Makes a revocation effective on this node at once; the others follow within `cacheTtlMs`. */
  forget(keyId: string): void;
}

export interface NewKey {
  readonly key: string;
  /** What the key is stored as, and found by. */
  readonly hmac: string;
  /** To recognise the key by. */
  readonly prefix: string;
}

export interface KeyAuthDeps {
  readonly keys: Pick<KeyStore, 'findByHmac'>;
  /** Keys the HMACs; changing it invalidates every API key. */
  readonly secret: Buffer;
  readonly now: () => number;
  readonly randomBytes: RandomBytes;
}

/** A revoked key works no longer than this on a node that knows it. The promise is 5 s. */
const cacheTtlMs = 3_000;
const cachedKeysMax = 10_000;
/** 43 base62 characters hold 256 bits. */
const secretCharacters = 43;
/** CRC-32 in hexadecimal. */
const checksumCharacters = 8;
const prefixCharacters = 8;
const keyPattern = new RegExp(`^sk-[0-9A-Za-z]{${secretCharacters + checksumCharacters}}$`);
const bearerPattern = /^Bearer +([\x21-\x7e]+)$/i;

interface CachedKey {
  readonly key: ApiKey;
  readonly caller: Caller;
}

export function createKeyAuth(deps: KeyAuthDeps): KeyAuth {
  // By SHA-256 of the key: the key itself does not stay in memory, and the duration of a look-up reveals nothing. Only
  // keys that exist are remembered, so nobody can fill the cache with guesses.
  const cache = new LRUCache<string, CachedKey>({
    max: cachedKeysMax,
    ttl: cacheTtlMs,
    ttlResolution: 0,
    perf: { now: deps.now },
  });
  const lookups = new Map<string, Promise<CachedKey | undefined>>();
  const hmacOf = (key: string): string => createHmac('sha256', deps.secret).update(key).digest('base64url');

  async function load(key: string, digest: string): Promise<CachedKey | undefined> {
    const hmac = hmacOf(key);
    const found = await deps.keys.findByHmac(hmac);
    if (found === undefined || !sameText(found.hmac, hmac)) {
      cache.delete(digest);
      return undefined;
    }
    const entry = { key: found, caller: toCaller(found) };
    cache.set(digest, entry);
    return entry;
  }

  /** Requests with one key that arrive together share one read. */
  function loadOnce(key: string, digest: string): Promise<CachedKey | undefined> {
    const running = lookups.get(digest);
    if (running !== undefined) return running;
    const lookup = load(key, digest).finally(() => lookups.delete(digest));
    lookups.set(digest, lookup);
    return lookup;
  }

  return {
    newKey() {
      const secret = randomBase62(secretCharacters, deps.randomBytes);
      const key = `sk-${secret}${checksum(secret)}`;
      return { key, hmac: hmacOf(key), prefix: key.slice(0, prefixCharacters) };
    },

    async authenticate(authorization) {
      const key = bearerPattern.exec(authorization ?? '')?.[1];
      if (key === undefined || !isWellFormed(key)) return undefined;
      const digest = hash('sha256', key, 'base64');
      const entry = cache.get(digest) ?? (await loadOnce(key, digest));
      return entry !== undefined && isValid(entry.key, deps.now()) ? entry.caller : undefined;
    },

    forget(keyId) {
      for (const [digest, entry] of cache) if (entry.key.id === keyId) cache.delete(digest);
    },
  };
}

/** Compares in constant time: the duration does not reveal where the texts differ. */
export function sameText(a: string, b: string): boolean {
  return timingSafeEqual(hash('sha256', a, 'buffer'), hash('sha256', b, 'buffer'));
}

/** The checksum lets a typo fail without a read of the database; it protects nothing else. */
function isWellFormed(key: string): boolean {
  if (!keyPattern.test(key)) return false;
  return key.endsWith(checksum(key.slice(3, -checksumCharacters)));
}

function checksum(secret: string): string {
  return crc32(secret).toString(16).padStart(checksumCharacters, '0');
}

function isValid(key: ApiKey, now: number): boolean {
  return key.revokedAt === undefined && (key.expiresAt === undefined || now < key.expiresAt);
}

function toCaller(key: ApiKey): Caller {
  return {
    account: key.account,
    key: key.id,
    ...defined({
      models: key.models,
      channels: key.channels,
      assetUrls: key.assetUrls,
      requestsPerMinute: key.requestsPerMinute,
      concurrentTasks: key.concurrentTasks,
    }),
  };
}
