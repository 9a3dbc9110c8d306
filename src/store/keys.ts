import type { Collection, Db } from 'mongodb';
import { ensureIndexes } from './mongo.ts';

/** An API key. `_id` is the HMAC of the key; the key itself is shown once and stored nowhere. Times in Unix milliseconds. */
export interface KeyDocument {
  readonly _id: string;
  /** Public id: `key_…` */
  readonly id: string;
  readonly account: string;
  readonly name: string;
  /** The key's first characters, to recognise it by. */
  readonly prefix: string;
  /** Absent: all. */
  readonly models?: readonly string[];
  readonly channels?: readonly string[];
  /** May name assets in an upstream account, `asset://…`. Absent: not. */
  readonly asset_urls?: boolean;
  readonly requests_per_minute?: number;
  readonly concurrent_tasks?: number;
  readonly expires_at?: number;
  readonly revoked_at?: number;
  readonly created_at: number;
}

export type KeyStore = ReturnType<typeof createKeyStore>;

export function createKeyStore(db: Db, now: () => number) {
  const keys: Collection<KeyDocument> = db.collection<KeyDocument>('keys');
  return {
    async ensureIndexes(): Promise<void> {
      await ensureIndexes(keys, [
        { key: { id: 1 }, name: 'id', unique: true },
        { key: { account: 1, created_at: -1 }, name: 'account_created' },
      ]);
    },

    async insert(key: KeyDocument): Promise<void> {
      await keys.insertOne(key);
    },

    async findByHmac(hmac: string): Promise<KeyDocument | undefined> {
      return (await keys.findOne({ _id: hmac })) ?? undefined;
    },

    /** By public id. */
    async find(id: string): Promise<KeyDocument | undefined> {
      return (await keys.findOne({ id })) ?? undefined;
    },

    async list(
      filter: { readonly account?: string },
      page: { readonly limit: number },
    ): Promise<KeyDocument[]> {
      return keys
        .find(filter.account === undefined ? {} : { account: filter.account })
        .sort({ created_at: -1 })
        .limit(page.limit)
        .toArray();
    },

    /** False: no such key. Revoking twice keeps the first time. */
    async revoke(id: string): Promise<boolean> {
      await keys.updateOne({ id, revoked_at: { $exists: false } }, { $set: { revoked_at: now() } });
      return (await keys.countDocuments({ id }, { limit: 1 })) === 1;
    },
  };
}
