import type { Collection, Db } from 'mongodb';
import { defined } from '../base/defined.ts';
import { isKeyValid } from '../base/key-scope.ts';
import type { KeyScope } from '../base/key-scope.ts';
import type { KeyCaps } from '../money/caps.ts';
import { toCaps, toCapsDocuments } from './caps-document.ts';
import type { CapsDocument } from './caps-document.ts';
import { pushed } from './changes.ts';
import type { Change } from './changes.ts';
import { durable, ensureIndexes, openCollection } from './mongo.ts';

/** Keys that are made within one millisecond, at most. */
const sameMomentMax = 20;

/** An API key, which itself is shown once and stored nowhere. Times in Unix milliseconds. */
export interface ApiKey {
  /** HMAC of the key: what a request finds it by. */
  readonly hmac: string;
  /** Public id: `key_…` */
  readonly id: string;
  readonly account: string;
  readonly name: string;
  /** The key's first characters, to recognise it by. */
  readonly prefix: string;
  readonly scopes: readonly KeyScope[];
  /** CIDRs from which the key may be used. Undefined: any address. */
  readonly addresses?: readonly string[];
  /** Operations that the key may call. Undefined: every operation that its scopes allow. */
  readonly routes?: readonly string[];
  /** The longest video that the key may request, in seconds. */
  readonly secondsMax?: number;
  /** The largest resolution that the key may request, such as `1080p`. */
  readonly resolutionMax?: string;
  /** Absent: all. */
  readonly models?: readonly string[];
  readonly channels?: readonly string[];
  /** May name assets in an upstream account, `asset://…`. Absent: not. */
  readonly assetUrls?: boolean;
  /** Whether a field without effect is an error for every request of the key. */
  readonly strict?: boolean;
  /** Whether every create must name its end user. */
  readonly endUserRequired?: boolean;
  readonly requestsPerMinute?: number;
  readonly concurrentTasks?: number;
  readonly caps?: KeyCaps;
  readonly expiresAt?: number;
  readonly revokedAt?: number;
  /** To the minute. */
  readonly lastUsedAt?: number;
  /** Of a key that replaced another one: the first of them, whose limits they share. */
  readonly countedAs?: string;
  /** The key that replaced this one. */
  readonly replacedBy?: string;
  readonly changes?: readonly Change[];
  readonly createdAt: number;
}

/** The terms that a rotated key passes on to its replacement: its account, scopes and limits. */
function termsOf(key: ApiKey) {
  const { hmac: _hmac, id: _public, prefix: _prefix, createdAt: _created, changes: _changes, ...rest } = key;
  const { lastUsedAt: _used, revokedAt: _revoked, replacedBy: _by, countedAs: _as, ...terms } = rest;
  return terms;
}

interface KeyDocument extends Omit<ApiKey, 'hmac' | 'caps'> {
  /** The HMAC. */
  readonly _id: string;
  readonly caps?: readonly CapsDocument[];
}

interface Replacement {
  /** The new key's id. */
  readonly by: string;
  /** Unix milliseconds: the old key's end. */
  readonly endsAt: number;
  readonly change: Change;
}

export type KeyStore = ReturnType<typeof createKeyStore>;

export function createKeyStore(db: Db, now: () => number) {
  const keys = openCollection<KeyDocument>(db, 'keys', durable);
  return {
    ensureIndexes: () =>
      ensureIndexes(keys, [
        { key: { id: 1 }, name: 'id', unique: true },
        { key: { account: 1, createdAt: -1 }, name: 'account_created' },
        { key: { createdAt: -1 }, name: 'created' },
      ]),

    termsOf,

    async insert(key: ApiKey): Promise<void> {
      await keys.insertOne(toDocument(key));
    },

    async findByHmac(hmac: string): Promise<ApiKey | undefined> {
      const found = await keys.findOne({ _id: hmac });
      return found === null ? undefined : toKey(found);
    },

    /** By public id. */
    async find(id: string): Promise<ApiKey | undefined> {
      const found = await keys.findOne({ id });
      return found === null ? undefined : toKey(found);
    },

    /** False: no such key. Revoking twice keeps the first time. */
    async revoke(id: string, by: string, reason: string): Promise<boolean> {
      const at = now();
      await keys.updateOne(
        { id, revokedAt: { $exists: false } },
        { $set: { revokedAt: at }, $push: pushed({ at, by, action: 'revoked', reason }) },
      );
      return (await keys.countDocuments({ id }, { limit: 1 })) === 1;
    },

    /**
     * Ends a key in favour of another one that is stored already. False: it was revoked or replaced meanwhile; nothing
     * was changed.
     */
    async replace(old: string, replacement: Replacement): Promise<boolean> {
      const { by, endsAt, change } = replacement;
      const changed = await keys.updateOne(
        { id: old, revokedAt: { $exists: false }, replacedBy: { $exists: false } },
        { $set: { replacedBy: by, expiresAt: endsAt }, $push: pushed(change) },
      );
      return changed.modifiedCount === 1;
    },

    ...keyTerms(keys, now),
    ...keysOfAccount(keys),
    ...keyLists(keys),

    /** For a key that nobody was given. */
    async remove(id: string): Promise<void> {
      await keys.deleteOne({ id });
    },

    /** By public id. */
    async noteUsed(used: ReadonlyMap<string, number>): Promise<void> {
      for (const [id, at] of used) await keys.updateOne({ id }, { $max: { lastUsedAt: at } });
    },
  };
}

function keyTerms(keys: Collection<KeyDocument>, now: () => number) {
  return {
    /** The caps that limit a key and its replacements: those of the last one, unless that has ended. */
    async capsInForce(id: string): Promise<KeyCaps | undefined> {
      let key = await keys.findOne({ id });
      while (key?.replacedBy !== undefined) key = await keys.findOne({ id: key.replacedBy });
      return key === null || !isKeyValid(key, now()) || key.caps === undefined
        ? undefined
        : toKeyCaps(key.caps);
    },

    /** By public id; replaces them. False: no such key. */
    async setCaps(id: string, caps: KeyCaps, change: Change): Promise<boolean> {
      const changed = await keys.updateOne(
        { id },
        { $set: { caps: toCapsDocuments(caps.all, caps.models) }, $push: pushed(change) },
      );
      return changed.matchedCount === 1;
    },
  };
}

function keysOfAccount(keys: Collection<KeyDocument>) {
  return {
    /** Public ids of an account's keys, at most `limit`. */
    async idsOf(account: string, limit: number): Promise<string[]> {
      const found = keys
        .find({ account }, { projection: { id: 1 } })
        .sort({ createdAt: -1 })
        .limit(limit);
      return (await found.toArray()).map(({ id }) => id);
    },

    /** Every key of an account, the newest first. */
    async *ofAccount(account: string): AsyncIterable<ApiKey> {
      for await (const document of keys.find({ account }).sort({ createdAt: -1 })) yield toKey(document);
    },

    async countOf(account: string): Promise<number> {
      return keys.countDocuments({ account });
    },

    /** By public ids: of an account that is deleted. */
    async removeMany(ids: readonly string[]): Promise<void> {
      await keys.deleteMany({ id: { $in: [...ids] } });
    },
  };
}

function toDocument({ hmac: _id, caps, ...key }: ApiKey): KeyDocument {
  return { _id, ...key, ...defined({ caps: caps && toCapsDocuments(caps.all, caps.models) }) };
}

function toKey({ _id: hmac, caps, ...key }: KeyDocument): ApiKey {
  return { hmac, ...key, ...defined({ caps: caps && toKeyCaps(caps) }) };
}

function toKeyCaps(documents: readonly CapsDocument[]): KeyCaps {
  const { whole, parts } = toCaps(documents);
  return { all: whole ?? {}, models: parts };
}

function keyLists(keys: Collection<KeyDocument>) {
  return {
    /** Newest first. `after`: the last key of the page before. */
    async list(
      filter: { readonly account?: string },
      { limit, after }: { readonly limit: number; readonly after?: ApiKey },
    ): Promise<ApiKey[]> {
      const found = await keys
        .find({ ...filter, ...(after === undefined ? {} : { createdAt: { $lte: after.createdAt } }) })
        .sort({ createdAt: -1 })
        .limit(after === undefined ? limit : limit + sameMomentMax)
        .toArray();
      const from = after === undefined ? 0 : found.findIndex(({ id }) => id === after.id) + 1;
      return found.slice(from, from + limit).map(toKey);
    },
  };
}
