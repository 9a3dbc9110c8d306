import type { Collection, Db } from 'mongodb';
import { defined } from '../base/defined.ts';
import { inTexts, textsOf } from '../base/search-text.ts';
import { isKeyValid, type KeyScope } from '../base/key-scope.ts';
import type { KeyCaps } from '../money/caps.ts';
import { toCaps, toCapsDocuments, type CapsDocument } from './caps-document.ts';
import { pushed, type Change } from './changes.ts';
import { invitationIndex, redemptionOf, type RedeemedLink } from './invitations.ts';
import type { Invitation } from '../base/invitation.ts';
import { durable, ensureIndexes, openCollection } from './mongo.ts';
import { lastUses, type LastUses } from './last-uses.ts';

/**
 * The maximum number of keys that may be created in the same millisecond. With more, some keys would be missing between
 * two pages.
 */
const sameMomentMax = 20;

/** The key itself is displayed once and never stored. Times are in Unix milliseconds. */
export interface ApiKey {
  readonly hmac: string;
  readonly id: string;
  readonly account: string;
  readonly name: string;
  readonly prefix: string;
  readonly scopes: readonly KeyScope[];
  /** The CIDRs from which the key may be used. Undefined allows every IP address. */
  readonly addresses?: readonly string[];
  /** The operations that the key may call. If undefined, only its scopes limit it. */
  readonly routes?: readonly string[];
  readonly secondsMax?: number;
  readonly resolutionMax?: string;
  readonly models?: readonly string[];
  readonly channels?: readonly string[];
  /** Whether requests may reference assets in an upstream account (`asset://…`). Undefined means no. */
  readonly assetUrls?: boolean;
  readonly strict?: boolean;
  readonly endUserRequired?: boolean;
  readonly requestsPerMinute?: number;
  readonly concurrentTasks?: number;
  readonly caps?: KeyCaps;
  readonly expiresAt?: number;
  readonly invitation?: Invitation;
  readonly revokedAt?: number;
  /** Accurate to the minute. */
  readonly lastUsedAt?: number;
  /** The first key in a chain of replacements, which all share its limits. Set only if the key replaced another one. */
  readonly countedAs?: string;
  readonly replacedBy?: string;
  readonly changes?: readonly Change[];
  readonly createdAt: number;
}

/** The terms that a replacement key inherits from the key that it replaces. */
function termsOf(key: ApiKey) {
  const { hmac: _hmac, id: _public, prefix: _prefix, createdAt: _created, changes: _changes, ...rest } = key;
  const { lastUsedAt: _used, revokedAt: _revoked, replacedBy: _by, countedAs: _as, ...others } = rest;
  const { invitation: _link, ...terms } = others;
  return terms;
}

interface KeyDocument extends Omit<ApiKey, 'id' | 'caps'> {
  readonly _id: string;
  readonly caps?: readonly CapsDocument[];
  readonly texts?: readonly string[];
}

interface Replacement {
  readonly by: string;
  readonly endsAt: number;
  readonly change: Change;
}

export type KeyStore = ReturnType<typeof createKeyStore>;

export function createKeyStore(db: Db, now: () => number) {
  const keys = openCollection<KeyDocument>(db, 'keys', durable);
  return {
    ensureIndexes: () =>
      ensureIndexes(keys, [
        { key: { hmac: 1 }, name: 'hmac', unique: true },
        invitationIndex,
        { key: { account: 1, createdAt: -1 }, name: 'account_created' },
        { key: { createdAt: -1 }, name: 'created' },
        { key: { texts: 1 }, name: 'texts' },
      ]),

    termsOf,

    async insert(key: ApiKey): Promise<void> {
      await keys.insertOne(toDocument(key));
    },

    async findByHmac(hmac: string): Promise<ApiKey | undefined> {
      const found = await keys.findOne({ hmac });
      return found === null ? undefined : toKey(found);
    },

    async find(id: string): Promise<ApiKey | undefined> {
      const found = await keys.findOne({ _id: id });
      return found === null ? undefined : toKey(found);
    },

    async findInvited(link: string): Promise<ApiKey | undefined> {
      const found = await keys.findOne({ 'invitation.hmac': link });
      return found === null ? undefined : toKey(found);
    },

    /** Returns undefined if the link has been used or revoked, or has expired. */
    async redeem(redeemed: RedeemedLink, address: string): Promise<ApiKey | undefined> {
      const { filter, update } = receiving(redeemed, address, now());
      const found = await keys.findOneAndUpdate(filter, update, { returnDocument: 'after' });
      return found === null ? undefined : toKey(found);
    },

    /** Returns false if the key does not exist. A key that is already revoked keeps its original time. */
    async revoke(id: string, by: string, reason: string): Promise<boolean> {
      const at = now();
      await keys.updateOne(
        { _id: id, revokedAt: { $exists: false } },
        { $set: { revokedAt: at }, $push: pushed({ at, by, action: 'revoked', reason }) },
      );
      return (await keys.countDocuments({ _id: id }, { limit: 1 })) === 1;
    },

    /** Changes nothing and returns false if the old key has been revoked or replaced in the meantime. */
    async replace(old: string, replacement: Replacement): Promise<boolean> {
      const { by, endsAt, change } = replacement;
      const changed = await keys.updateOne(
        { _id: old, revokedAt: { $exists: false }, replacedBy: { $exists: false } },
        { $set: { replacedBy: by, expiresAt: endsAt }, $push: pushed(change) },
      );
      return changed.modifiedCount === 1;
    },

    ...keyTerms(keys, now),
    ...keysOfAccount(keys),
    ...keyLists(keys),

    async noteUsed(uses: LastUses): Promise<void> {
      await keys.bulkWrite(lastUses(uses), { ordered: false });
    },
  };
}

function keyTerms(keys: Collection<KeyDocument>, now: () => number) {
  return {
    /** Returns the caps of the newest key in a chain of replacements, unless that key is no longer valid. */
    async capsInForce(id: string): Promise<KeyCaps | undefined> {
      let key = await keys.findOne({ _id: id });
      while (key?.replacedBy !== undefined) key = await keys.findOne({ _id: key.replacedBy });
      return key === null || !isKeyValid(key, now()) || key.caps === undefined
        ? undefined
        : toKeyCaps(key.caps);
    },

    async setCaps(id: string, caps: KeyCaps, change: Change): Promise<boolean> {
      const changed = await keys.updateOne(
        { _id: id },
        { $set: { caps: toCapsDocuments(caps.all, caps.models) }, $push: pushed(change) },
      );
      return changed.matchedCount === 1;
    },
  };
}

function keysOfAccount(keys: Collection<KeyDocument>) {
  return {
    async idsOf(account: string, limit: number): Promise<string[]> {
      const found = keys
        .find({ account }, { projection: { _id: 1 } })
        .sort({ createdAt: -1 })
        .limit(limit);
      return (await found.toArray()).map(({ _id }) => _id);
    },

    async *ofAccount(account: string): AsyncIterable<ApiKey> {
      for await (const document of keys.find({ account }).sort({ createdAt: -1 })) yield toKey(document);
    },

    async countOf(account: string): Promise<number> {
      return keys.countDocuments({ account });
    },

    async remove(id: string): Promise<void> {
      await keys.deleteOne({ _id: id });
    },

    async removeMany(ids: readonly string[]): Promise<void> {
      await keys.deleteMany({ _id: { $in: [...ids] } });
    },
  };
}

function toDocument({ id: _id, caps, ...key }: ApiKey): KeyDocument {
  const texts = [...textsOf(_id, key.name), key.prefix.toLowerCase()];
  return { _id, texts, ...key, ...defined({ caps: caps && toCapsDocuments(caps.all, caps.models) }) };
}

function toKey({ _id: id, caps, texts: _texts, ...key }: KeyDocument): ApiKey {
  return { id, ...key, ...defined({ caps: caps && toKeyCaps(caps) }) };
}

function toKeyCaps(documents: readonly CapsDocument[]): KeyCaps {
  const { whole, parts } = toCaps(documents);
  return { all: whole ?? {}, models: parts };
}

function keyLists(keys: Collection<KeyDocument>) {
  return {
    async search(text: string, limit: number): Promise<ApiKey[]> {
      const found = keys.find({ texts: inTexts(text) }).limit(limit);
      return (await found.toArray()).map(toKey);
    },

    async list(
      filter: { readonly account?: string },
      { limit, after }: { readonly limit: number; readonly after?: ApiKey },
    ): Promise<ApiKey[]> {
      const found = await keys
        .find({ ...filter, ...(after === undefined ? {} : { createdAt: { $lte: after.createdAt } }) })
        .sort({ createdAt: -1 })
        .limit(after === undefined ? limit : limit + sameMomentMax)
        .toArray();
      const from = after === undefined ? 0 : found.findIndex(({ _id }) => _id === after.id) + 1;
      return found.slice(from, from + limit).map(toKey);
    },
  };
}

function receiving(redeemed: RedeemedLink, address: string, at: number) {
  const { filter, update } = redemptionOf(redeemed, at);
  const change = { at, by: 'its owner', action: `received through the link, from ${address}`, reason: '' };
  return {
    filter,
    update: {
      ...update,
      $addToSet: { texts: redeemed.issued.prefix.toLowerCase() },
      $push: pushed(change),
    },
  };
}
