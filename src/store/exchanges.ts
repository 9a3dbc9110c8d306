import type { AnyBulkWriteOperation, Db } from 'mongodb';
import { defaultRetention } from '../base/retention.ts';
import { ensureIndexes, expiring, isDuplicateKey, openCollection, primaryOnly } from './mongo.ts';

export interface NewExchanges {
  readonly task: string;
  /**
   * Exchanges that create or end a job. They are stored separately from polls, which would otherwise crowd them out.
   */
  readonly submits: readonly string[];
  readonly polls: readonly string[];
}

interface ExchangesDocument {
  readonly _id: string;
  readonly submits: readonly string[];
  readonly polls: readonly string[];
  readonly expires: Date;
}

const submitsMax = 12;
const pollsMax = 20;

export type ExchangeStore = ReturnType<typeof createExchangeStore>;

/** Stores one document of limited size per task. `keptMs` counts from the task's last exchange. */
export function createExchangeStore(
  db: Db,
  now: () => number,
  keptMs: () => number = () => defaultRetention.exchangesMs,
) {
  const exchanges = openCollection<ExchangesDocument>(db, 'exchanges', primaryOnly);
  return {
    ensureIndexes: () => ensureIndexes(exchanges, [expiring]),

    async add(news: readonly NewExchanges[]): Promise<void> {
      if (news.length === 0) return;
      const expires = new Date(now() + keptMs());
      const writes = news.map((entry) => appendTo(entry, expires));
      try {
        await exchanges.bulkWrite(writes, { ordered: false });
      } catch (error) {
        // Another process created the same document concurrently. Keep its entries and add ours.
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

    /** Submissions come before polls, each in the order in which they were recorded. */
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
