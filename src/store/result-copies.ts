import type { Collection, Db } from 'mongodb';
import { ensureIndexes, isDuplicateKey } from './mongo.ts';

/** What became of the copy of a task's results. Times in Unix milliseconds. */
export interface ResultCopyDocument {
  /** The task. */
  readonly _id: string;
  readonly state: 'stored' | 'retry' | 'gave_up' | 'expired';
  /** Stored files. */
  readonly names: readonly string[];
  readonly tries: number;
  /** `retry`: when it is tried again; `stored` and `gave_up`: when the files that are there are deleted. */
  readonly due_at: number;
  readonly error?: string;
}

export type ResultCopyStore = ReturnType<typeof createResultCopyStore>;

export function createResultCopyStore(db: Db) {
  const copies: Collection<ResultCopyDocument> = db.collection<ResultCopyDocument>('result_copies');
  return {
    async ensureIndexes(): Promise<void> {
      await ensureIndexes(copies, [{ name: 'state_due', key: { state: 1, due_at: 1 } }]);
    },

    async find(task: string): Promise<ResultCopyDocument | undefined> {
      return (await copies.findOne({ _id: task })) ?? undefined;
    },

    async write(copy: ResultCopyDocument): Promise<void> {
      const { _id, ...fields } = copy;
      try {
        await copies.updateOne({ _id }, { $set: fields }, { upsert: true });
      } catch (error) {
        if (!isDuplicateKey(error)) throw error;
        await copies.updateOne({ _id }, { $set: fields });
      }
    },

    async listDue(
      state: ResultCopyDocument['state'],
      at: number,
      limit: number,
    ): Promise<ResultCopyDocument[]> {
      return copies
        .find({ state, due_at: { $lte: at } })
        .sort({ due_at: 1 })
        .limit(limit)
        .toArray();
    },
  };
}
