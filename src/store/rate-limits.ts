import type { Db } from 'mongodb';
import { durable, ensureIndexes, expiring, openCollection, repeatOnDuplicate } from './mongo.ts';

/** Requests of one key in one minute, counted by all processes. */
interface RateLimitDocument {
  /** `<key>:<minute>` */
  readonly _id: string;
  readonly count: number;
  /** For MongoDB's TTL, which tidies up. */
  readonly expires: Date;
}

const keptMs = 5 * 60_000;

export type RateLimitStore = ReturnType<typeof createRateLimitStore>;

export function createRateLimitStore(db: Db) {
  const counters = openCollection<RateLimitDocument>(db, 'rate_limits', durable);

  async function increment(id: string, startedAt: number): Promise<number> {
    const counter = await counters.findOneAndUpdate(
      { _id: id },
      { $inc: { count: 1 }, $setOnInsert: { expires: new Date(startedAt + keptMs) } },
      { upsert: true, returnDocument: 'after' },
    );
    return counter?.count ?? 1;
  }

  return {
    ensureIndexes: () => ensureIndexes(counters, [expiring]),

    /** Counts one request of the key in the minute that starts at `startedAt`, and says how many there are now. */
    async count(key: string, startedAt: number): Promise<number> {
      return repeatOnDuplicate(() => increment(`${key}:${startedAt}`, startedAt));
    },
  };
}
