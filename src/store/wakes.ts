import type { Db } from 'mongodb';
import { durable, ensureIndexes, expiring, openCollection, repeatOnDuplicate } from './mongo.ts';

/** An operator's request to retry a task now, whichever worker runs it. There is rarely more than one such request. */
export interface Wake {
  readonly task: string;
  /** Changes with each wake of the same task. */
  readonly id: string;
}

interface WakeDocument {
  readonly _id: string;
  readonly wake: string;
  readonly expires: Date;
}

const keptMs = 30_000;
const wakesMax = 1_000;

export type WakeStore = ReturnType<typeof createWakeStore>;

export function createWakeStore(db: Db, now: () => number) {
  const wakes = openCollection<WakeDocument>(db, 'wakes', durable);
  return {
    async ensureIndexes(): Promise<void> {
      await ensureIndexes(wakes, [expiring]);
    },

    async add({ task, id }: Wake): Promise<void> {
      const $set = { wake: id, expires: new Date(now() + keptMs) };
      await repeatOnDuplicate(() => wakes.updateOne({ _id: task }, { $set }, { upsert: true }));
    },

    async list(): Promise<readonly Wake[]> {
      // Ignore expired documents that the TTL index has not removed yet.
      const inForce = wakes.find({ expires: { $gt: new Date(now()) } });
      const documents = await inForce.limit(wakesMax).toArray();
      return documents.map(({ _id, wake }) => ({ task: _id, id: wake }));
    },
  };
}
