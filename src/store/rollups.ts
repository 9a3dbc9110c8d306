import type { Db } from 'mongodb';
import { dayMs } from '../base/times.ts';
import type { Flow } from '../reports/flow.ts';
import { durable, ensureIndexes, expiring, openCollection, repeatOnDuplicate } from './mongo.ts';

/** The flows of one hour, cached as of `readAt`. They can be recomputed from the records and the ledger. */
export interface Rollup {
  readonly at: number;
  readonly readAt: number;
  readonly flows: readonly Flow[];
}

interface RollupDocument extends Rollup {
  /** The hour in UTC, such as `2026-11-29T08`. */
  readonly _id: string;
  readonly expires: Date;
}

const keptMs = 35 * dayMs;

export type RollupStore = ReturnType<typeof createRollupStore>;

export function createRollupStore(db: Db) {
  const rollups = openCollection<RollupDocument>(db, 'rollups', durable);
  return {
    ensureIndexes: () => ensureIndexes(rollups, [expiring]),

    async list(from: number, before: number): Promise<Rollup[]> {
      const found = await rollups.find({ _id: { $gte: hourOf(from), $lt: hourOf(before) } }).toArray();
      return found.map(({ at, readAt, flows }) => ({ at, readAt, flows }));
    },

    /** Two processes may write the same hour concurrently. Either result is correct. */
    async put(all: readonly Rollup[]): Promise<void> {
      const writes = all.map(({ at, readAt, flows }) => {
        const $set = { at, readAt, flows, expires: new Date(at + keptMs) };
        return { updateOne: { filter: { _id: hourOf(at) }, update: { $set }, upsert: true } };
      });
      await repeatOnDuplicate(() => rollups.bulkWrite(writes, { ordered: false }));
    },
  };
}

function hourOf(at: number): string {
  return new Date(at).toISOString().slice(0, 13);
}
