import type { Db } from 'mongodb';
import { durable, ensureIndexes, expiring, openCollection, repeatOnDuplicate } from './mongo.ts';

interface RateLimitDocument {
  /** `<key>:<minute>` */
  readonly _id: string;
  readonly count: number;
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

    async count(key: string, startedAt: number): Promise<number> {
      return repeatOnDuplicate(() => increment(`${key}:${startedAt}`, startedAt));
    },
  };
}
