import type { Db } from 'mongodb';
import { durable, ensureIndexes, expiring, openCollection, repeatOnDuplicate } from './mongo.ts';
import { dayMs } from '../base/times.ts';

interface StoredBytesDocument {
  /** `<account>/<day>` */
  readonly _id: string;
  readonly bytes: bigint;
  /** The end of the day in `_id`, used by MongoDB's TTL index. */
  readonly expires: Date;
}

/** Keys are the days on which the bytes are deleted, counted from 1 January 1970 in UTC. */
export type BytesByDay = ReadonlyMap<number, number>;

export function dayOf(at: number): number {
  return Math.floor(at / dayMs);
}

export function endOfDay(day: number): number {
  return (day + 1) * dayMs;
}

/**
 * Sorts after all days of the account, because a colon sorts after the digits. Days have five digits until the year
 * 2243.
 */
function endOf(account: string): string {
  return `${account}/:`;
}

export type StoredBytesStore = ReturnType<typeof createStoredBytesStore>;

export function createStoredBytesStore(db: Db, now: () => number) {
  const sums = openCollection<StoredBytesDocument>(db, 'stored_bytes', durable);
  return {
    ensureIndexes: () => ensureIndexes(sums, [expiring]),

    async add(account: string, day: number, bytes: number): Promise<void> {
      const update = {
        $inc: { bytes: BigInt(bytes) },
        $setOnInsert: { expires: new Date(endOfDay(day)) },
      };
      await repeatOnDuplicate(() => sums.updateOne({ _id: `${account}/${day}` }, update, { upsert: true }));
    },

    async find(account: string): Promise<BytesByDay> {
      const today = dayOf(now());
      const range = { $gte: `${account}/${today}`, $lt: endOf(account) };
      const found = await sums.find({ _id: range }).toArray();
      return new Map(found.map(({ _id, bytes }) => [Number(_id.slice(account.length + 1)), Number(bytes)]));
    },

    async removeAll(account: string): Promise<void> {
      await sums.deleteMany({ _id: { $gte: `${account}/`, $lt: endOf(account) } });
    },
  };
}
