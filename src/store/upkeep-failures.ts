import type { Db } from 'mongodb';
import { ensureIndexes, expiring, openCollection, primaryOnly, repeatOnDuplicate } from './mongo.ts';

export interface UpkeepFailure {
  readonly step: string;
  readonly count: number;
}

interface UpkeepFailureDocument {
  readonly _id: string;
  readonly count: number;
  readonly expires: Date;
}

/** Exceeds the time for which any item is postponed, so that a lasting failure remains a single notice. */
const keptMs = 2 * 3_600_000;

export type UpkeepFailureStore = ReturnType<typeof createUpkeepFailureStore>;

export function createUpkeepFailureStore(db: Db, now: () => number) {
  const failures = openCollection<UpkeepFailureDocument>(db, 'upkeep_failures', primaryOnly);
  return {
    ensureIndexes: () => ensureIndexes(failures, [expiring]),

    async note({ step: _id, count }: UpkeepFailure): Promise<void> {
      const noted = { count, expires: new Date(now() + keptMs) };
      await repeatOnDuplicate(() => failures.replaceOne({ _id }, noted, { upsert: true }));
    },

    /** Unix milliseconds by the writing process's clock. */
    async lastNote(step: string): Promise<number | undefined> {
      const noted = await failures.findOne({ _id: step });
      return noted === null ? undefined : noted.expires.getTime() - keptMs;
    },

    async list(): Promise<readonly UpkeepFailure[]> {
      const found = await failures.find().toArray();
      return found
        .filter(({ expires }) => expires.getTime() > now())
        .map(({ _id: step, count }) => ({ step, count }));
    },
  };
}
