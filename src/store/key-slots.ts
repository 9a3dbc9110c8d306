import type { Db } from 'mongodb';
import { racePoint } from '../base/race-point.ts';
import { durable, openCollection, unlessThere } from './mongo.ts';

/**
 * Lists the unfinished tasks of an API key with a `concurrent_tasks` limit. A guarded update adds a task only if there
 * is room, so the limit is exact across all processes. Times are in Unix milliseconds.
 */
interface KeySlotsDocument {
  readonly _id: string;
  readonly tasks: readonly KeySlot[];
}

export interface KeySlot {
  readonly task: string;
  /** After this time, the task no longer uses a slot, even if its process died. */
  readonly until: number;
  readonly since: number;
}

export type KeySlotStore = ReturnType<typeof createKeySlotStore>;

export function createKeySlotStore(db: Db, now: () => number) {
  const keys = openCollection<KeySlotsDocument>(db, 'key_slots', durable);

  async function add(key: string, slot: KeySlot, limit: number): Promise<boolean> {
    // Position `limit - 1` exists only if the list is full.
    const added = await keys.updateOne(
      { _id: key, 'tasks.task': { $ne: slot.task }, [`tasks.${limit - 1}`]: { $exists: false } },
      { $push: { tasks: slot } },
    );
    return added.modifiedCount === 1;
  }

  async function has(key: string, task: string): Promise<boolean> {
    return (await keys.findOne({ _id: key, 'tasks.task': task })) !== null;
  }

  return {
    /**
     * Returns true if the task has a slot, even from an earlier call. Returns false if the key already has `limit`
     * unfinished tasks. The slot becomes free at `until` if the process dies.
     */
    async take(
      key: string,
      { task, until }: Pick<KeySlot, 'task' | 'until'>,
      limit: number,
    ): Promise<boolean> {
      const slot: KeySlot = { task, until, since: now() };
      await racePoint('slots.take', task);
      if (await add(key, slot, limit)) return true;
      if (await has(key, task)) return true;
      await unlessThere(() => keys.insertOne({ _id: key, tasks: [] }));
      await keys.updateOne({ _id: key }, { $pull: { tasks: { until: { $lte: now() } } } });
      return (await add(key, slot, limit)) || has(key, task);
    },

    /** Idempotent. Does nothing for a key without a limit. */
    async keepUntil(key: string, { task, until }: Pick<KeySlot, 'task' | 'until'>): Promise<void> {
      await keys.updateOne({ _id: key, 'tasks.task': task }, { $max: { 'tasks.$.until': until } });
    },

    /**
     * Call this when the task has finished or was never admitted. Idempotent. Does nothing for a key without a limit.
     */
    async release(key: string, task: string): Promise<void> {
      await keys.updateOne({ _id: key }, { $pull: { tasks: { task } } });
    },

    async removeMany(ids: readonly string[]): Promise<void> {
      await keys.deleteMany({ _id: { $in: [...ids] } });
    },

    async list(): Promise<{ readonly key: string; readonly tasks: readonly KeySlot[] }[]> {
      const documents = await keys.find().toArray();
      return documents.map(({ _id, tasks }) => ({ key: _id, tasks }));
    },
  };
}
