import type { Db } from 'mongodb';
import { durable, ensureIndexes, openCollection, repeatOnDuplicate } from './mongo.ts';

/** The state of the copy of a task's results. Times are in Unix milliseconds. */
export interface ResultCopy {
  readonly task: string;
  readonly state: 'stored' | 'retry' | 'gave_up' | 'expired' | 'removed';
  readonly names: readonly string[];
  readonly tries: number;
  /** For `retry`, when the copy is retried. Otherwise, when the existing files are deleted. */
  readonly dueAt: number;
  readonly error?: string;
}

interface ResultCopyDocument extends Omit<ResultCopy, 'task'> {
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

    /** Records the name of a file that is about to be written. Unless written again, the copy is due at `dueAt`. */
    async begin(task: string, name: string, dueAt: number): Promise<void> {
      const isNew = { state: 'retry', tries: 0, dueAt } as const;
      await repeatOnDuplicate(() =>
        copies.updateOne(
          { _id: task },
          { $addToSet: { names: name }, $setOnInsert: isNew },
          { upsert: true },
        ),
      );
    },

    /** Writes the whole document, so that an earlier try's error does not remain with a successful copy. */
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
