import type { Db } from 'mongodb';
import { durable, ensureIndexes, openCollection, repeatOnDuplicate } from './mongo.ts';

/** The state of the copy of a task's results. Times in Unix milliseconds. */
export interface ResultCopy {
  readonly task: string;
  readonly state: 'stored' | 'retry' | 'gave_up' | 'expired';
  /** Stored files. */
  readonly names: readonly string[];
  readonly tries: number;
  /** `retry`: when it is retried; `stored` and `gave_up`: when the files that are there are deleted. */
  readonly dueAt: number;
  readonly error?: string;
}

interface ResultCopyDocument extends Omit<ResultCopy, 'task'> {
  /** The task. */
  readonly _id: string;
}

export type ResultCopyStore = ReturnType<typeof createResultCopyStore>;

export function createResultCopyStore(db: Db) {
  const copies = openCollection<ResultCopyDocument>(db, 'result_copies', durable);
  return {
    ensureIndexes: () => ensureIndexes(copies, [{ name: 'state_due', key: { state: 1, dueAt: 1 } }]),

    async find(task: string): Promise<ResultCopy | undefined> {
      const found = await copies.findOne({ _id: task });
      return found === null ? undefined : toCopy(found);
    },

    /** The whole document: the error of an earlier try does not stay with a copy that succeeded. */
    async write({ task: _id, ...fields }: ResultCopy): Promise<void> {
      await repeatOnDuplicate(() => copies.replaceOne({ _id }, fields, { upsert: true }));
    },

    async findMany(tasks: readonly string[]): Promise<ResultCopy[]> {
      return (await copies.find({ _id: { $in: [...tasks] } }).toArray()).map(toCopy);
    },

    async removeMany(tasks: readonly string[]): Promise<void> {
      await copies.deleteMany({ _id: { $in: [...tasks] } });
    },

    async count(state: ResultCopy['state']): Promise<number> {
      return copies.countDocuments({ state });
    },

    async listDue(state: ResultCopy['state'], at: number, limit: number): Promise<ResultCopy[]> {
      const found = await copies
        .find({ state, dueAt: { $lte: at } })
        .sort({ dueAt: 1 })
        .limit(limit)
        .toArray();
      return found.map(toCopy);
    },
  };
}

function toCopy({ _id: task, ...copy }: ResultCopyDocument): ResultCopy {
  return { task, ...copy };
}
