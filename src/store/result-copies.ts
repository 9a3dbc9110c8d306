import type { Db, UpdateFilter } from 'mongodb';
import { defined } from '../base/defined.ts';
import { findDueByChannel, type DuePage } from './due-by-channel.ts';
import {
  durable,
  ensureIndexes,
  openCollection,
  repeatOnDuplicate,
  unlessThere,
  updateWith,
} from './mongo.ts';

export interface ResultCopy {
  readonly task: string;
  /** The channel that provided the links to be copied. Undefined if there are no links to copy. */
  readonly channel?: string;
  /**
   * `unused`: an attempt to store the task's images failed. Another attempt may still succeed and use the same names.
   */
  readonly state: 'stored' | 'unused' | 'retry' | 'gave_up' | 'expired' | 'removed';
  readonly names: readonly string[];
  readonly tries: number;
  /**
   * In the state `retry`, the time of the next attempt. In all other states, the time at which the files are deleted.
   */
  readonly dueAt: number;
  readonly error?: string;
}

type LinkedCopy = Required<Pick<ResultCopy, 'task' | 'channel'>>;

interface ResultCopyDocument extends Omit<ResultCopy, 'task'> {
  readonly _id: string;
}

export type ResultCopyStore = ReturnType<typeof createResultCopyStore>;

export function createResultCopyStore(db: Db) {
  const copies = openCollection<ResultCopyDocument>(db, 'result_copies', durable);
  return {
    ensureIndexes: () =>
      ensureIndexes(copies, [
        { name: 'state_due', key: { state: 1, dueAt: 1 } },
        { name: 'state_channel_due', key: { state: 1, channel: 1, dueAt: 1 } },
      ]),

    async find(task: string): Promise<ResultCopy | undefined> {
      const found = await copies.findOne({ _id: task });
      return found === null ? undefined : toCopy(found);
    },

    /**
     * Records a file's name before the file is written. If `write` is never called, the copy becomes due at `dueAt`.
     */
    async begin({ task, channel }: LinkedCopy, name: string, dueAt: number): Promise<void> {
      const isNew = { state: 'retry', channel, tries: 0, dueAt } as const;
      await repeatOnDuplicate(() =>
        copies.updateOne(
          { _id: task },
          { $addToSet: { names: name }, $setOnInsert: isNew },
          { upsert: true },
        ),
      );
    },

    /** Keeps the names that other attempts have recorded. A removed copy stays removed. */
    async write(copy: ResultCopy): Promise<void> {
      const kept = { _id: copy.task, state: { $ne: 'removed' } } as const;
      await unlessThere(() =>
        repeatOnDuplicate(() => copies.updateOne(kept, updateOf(copy), { upsert: true })),
      );
    },

    /** All files are deleted at `dueAt`, including any that are still written before then. */
    async remove(task: string, dueAt: number): Promise<void> {
      await copies.updateOne({ _id: task }, { $set: { state: 'removed', dueAt } });
    },

    /** Changes the fields of a copy. Returns false if the copy has changed since it was read. */
    async change(
      read: ResultCopy,
      fields: Partial<Pick<ResultCopy, 'state' | 'dueAt' | 'names'>>,
    ): Promise<boolean> {
      return (await copies.updateOne(unchanged(read), updateWith({ $set: fields }))).matchedCount === 1;
    },

    /** Returns false if the copy has changed since it was read. */
    async forget(read: ResultCopy): Promise<boolean> {
      return (await copies.deleteOne(unchanged(read))).deletedCount === 1;
    },

    async findMany(tasks: readonly string[]): Promise<ResultCopy[]> {
      return (await copies.find({ _id: { $in: [...tasks] } }).toArray()).map(toCopy);
    },

    async count(state: ResultCopy['state']): Promise<number> {
      return copies.countDocuments({ state });
    },

    async listRetries(page: DuePage): Promise<ResultCopy[]> {
      return (await findDueByChannel(copies, { state: 'retry' }, page)).map(toCopy);
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

function updateOf({
  state,
  tries,
  dueAt,
  names,
  error,
  channel,
}: ResultCopy): UpdateFilter<ResultCopyDocument> {
  return {
    $set: { state, tries, dueAt, ...defined({ channel, error }) },
    $addToSet: { names: { $each: [...names] } },
    ...(error === undefined ? { $unset: { error: '' } } : {}),
  };
}

function unchanged({ task: _id, state, dueAt, names }: ResultCopy) {
  return { _id, state, dueAt, names };
}

function toCopy({ _id: task, ...copy }: ResultCopyDocument): ResultCopy {
  return { task, ...copy };
}
