import type { AnyBulkWriteOperation, Db } from 'mongodb';
import { defaultRetention } from '../base/retention.ts';
import { ensureIndexes, expiring, isDuplicateKey, openCollection, primaryOnly } from './mongo.ts';

/** Exchanges of a task with its upstream that are to be added to its record. Each is one JSON text. */
export interface NewExchanges {
  readonly task: string;
  /** Those that create or end a job: an own list, so that many polls do not displace them. */
  readonly submits: readonly string[];
  readonly polls: readonly string[];
}

interface ExchangesDocument {
  /** The task. */
  readonly _id: string;
  readonly submits: readonly string[];
  readonly polls: readonly string[];
  /** For MongoDB's TTL. */
  readonly expires: Date;
}

const submitsMax = 12;
const pollsMax = 20;

export type ExchangeStore = ReturnType<typeof createExchangeStore>;

/** What a record of a task has beside its other collections: one bounded document per task. `keptMs`: after the last one. */
export function createExchangeStore(
  db: Db,
  now: () => number,
  keptMs: () => number = () => defaultRetention.exchangesMs,
) {
  // Nothing is decided by it.
  const exchanges = openCollection<ExchangesDocument>(db, 'exchanges', primaryOnly);
  return {
    ensureIndexes: () => ensureIndexes(exchanges, [expiring]),

    /** One command for many tasks. Several processes may add to one document. */
    async add(news: readonly NewExchanges[]): Promise<void> {
      if (news.length === 0) return;
      const expires = new Date(now() + keptMs());
      const writes = news.map((entry) => appendTo(entry, expires));
      try {
        await exchanges.bulkWrite(writes, { ordered: false });
      } catch (error) {
        // Two processes made a task's document at once: those that are in it already stay, the others are added.
        if (!isDuplicateKey(error)) throw error;
        const failed = failedWrites(error);
        await exchanges.bulkWrite(
          writes.filter((_, n) => failed.has(n)),
          { ordered: false },
        );
      }
    },

    async removeMany(tasks: readonly string[]): Promise<void> {
      await exchanges.deleteMany({ _id: { $in: [...tasks] } });
    },

    /** In the order in which they were added. */
    async find(task: string): Promise<readonly string[]> {
      const found = await exchanges.findOne({ _id: task });
      return found === null || found.expires.getTime() < now() ? [] : [...found.submits, ...found.polls];
    },
  };
}

function appendTo(
  { task, submits, polls }: NewExchanges,
  expires: Date,
): AnyBulkWriteOperation<ExchangesDocument> {
  return {
    updateOne: {
      filter: { _id: task },
      update: {
        $push: {
          submits: { $each: [...submits], $slice: -submitsMax },
          polls: { $each: [...polls], $slice: -pollsMax },
        },
        $set: { expires },
      },
      upsert: true,
    },
  };
}

/** Positions of the writes that were not carried out. */
function failedWrites(error: unknown): ReadonlySet<number> {
  const writeErrors: unknown = error instanceof Error && 'writeErrors' in error ? error.writeErrors : [];
  const list: readonly unknown[] = Array.isArray(writeErrors) ? writeErrors : [writeErrors];
  return new Set(
    list.flatMap((entry) =>
      typeof entry === 'object' && entry !== null && 'index' in entry && typeof entry.index === 'number'
        ? [entry.index]
        : [],
    ),
  );
}
