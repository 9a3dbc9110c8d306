import type { Db } from 'mongodb';
import { dayMs } from '../base/times.ts';
import type { Flow } from '../task/flow.ts';
import { durable, ensureIndexes, expiring, openCollection, repeatOnDuplicate } from './mongo.ts';

/** The flows of an hour, as they were read at a time. They can be read anew from the records and the ledger. */
export interface Rollup {
  /** When the hour begins, in Unix milliseconds. */
  readonly at: number;
  /** Before the records were read. */
  readonly readAt: number;
  readonly flows: readonly Flow[];
}

interface RollupDocument extends Rollup {
  /** `2026-11-29T08` */
  readonly _id: string;
  readonly expires: Date;
}

const keptMs = 35 * dayMs;

export type RollupStore = ReturnType<typeof createRollupStore>;

export function createRollupStore(db: Db) {
  const rollups = openCollection<RollupDocument>(db, 'rollups', durable);
  return {
    ensureIndexes: () => ensureIndexes(rollups, [expiring]),

    /** Those of the hours from `from` until before `before`, by `_id`. */
    async list(from: number, before: number): Promise<Rollup[]> {
      const found = await rollups.find({ _id: { $gte: hourOf(from), $lt: hourOf(before) } }).toArray();
      return found.map(({ at, readAt, flows }) => ({ at, readAt, flows }));
    },

    /** Replaces what was read before. Of two writers at once, either may be the last: each writes what it has read. */
    async put({ at, readAt, flows }: Rollup): Promise<void> {
      const $set = { at, readAt, flows, expires: new Date(at + keptMs) };
      await repeatOnDuplicate(() => rollups.updateOne({ _id: hourOf(at) }, { $set }, { upsert: true }));
    },
  };
}

function hourOf(at: number): string {
  return new Date(at).toISOString().slice(0, 13);
}
