import type { Collection, Db } from 'mongodb';
import { ensureIndexes, isDuplicateKey } from './mongo.ts';

/** Which task an Idempotency-Key made. `_id` is the HMAC of account, route and key. */
interface IdempotencyDocument {
  readonly _id: string;
  readonly task: string;
  /** Of the parsed request. */
  readonly fingerprint: string;
  readonly created_at: number;
  /** For MongoDB's TTL, which only tidies up: the reader checks the age. */
  readonly expires: Date;
}

export interface IdempotencyClaim {
  readonly task: string;
  readonly fingerprint: string;
  /** False: the key was used before, and the values are those of its first use. */
  readonly first: boolean;
}

const idempotencyTtlMs = 24 * 3600 * 1000;

export type IdempotencyStore = ReturnType<typeof createIdempotencyStore>;

export function createIdempotencyStore(db: Db, now: () => number) {
  const records: Collection<IdempotencyDocument> = db.collection<IdempotencyDocument>('idempotency');
  return {
    async ensureIndexes(): Promise<void> {
      await ensureIndexes(records, [{ name: 'expires', key: { expires: 1 }, expireAfterSeconds: 0 }]);
    },

    /** One of any number of simultaneous callers is first; a record older than 24 h is taken over by one of them. */
    async claim(id: string, task: string, fingerprint: string): Promise<IdempotencyClaim> {
      const at = now();
      const fresh = { task, fingerprint, created_at: at, expires: new Date(at + idempotencyTtlMs) };
      for (;;) {
        try {
          await records.insertOne({ _id: id, ...fresh });
          return { task, fingerprint, first: true };
        } catch (error) {
          if (!isDuplicateKey(error)) throw error;
        }
        const found = await records.findOne({ _id: id }, { readConcern: 'majority' });
        if (found === null) continue;
        if (found.created_at > at - idempotencyTtlMs)
          return { task: found.task, fingerprint: found.fingerprint, first: false };
        const taken = await records.updateOne({ _id: id, task: found.task }, { $set: fresh });
        if (taken.modifiedCount === 1) return { task, fingerprint, first: true };
      }
    },

    /** The claim that is in force, if there is one. */
    async find(id: string): Promise<Omit<IdempotencyClaim, 'first'> | undefined> {
      const found = await records.findOne({ _id: id });
      if (found === null || found.created_at <= now() - idempotencyTtlMs) return undefined;
      return { task: found.task, fingerprint: found.fingerprint };
    },

    /** Forgets a claim whose creation was refused, so that the caller may try again with the same key. */
    async forget(id: string, task: string): Promise<void> {
      await records.deleteOne({ _id: id, task });
    },
  };
}
