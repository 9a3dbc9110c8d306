import type { Collection, Db } from 'mongodb';
import { isDuplicateKey } from './mongo.ts';

/** What one of all processes does, as long as it lives. */
interface DutyDocument {
  /** The duty. */
  readonly _id: string;
  readonly holder: string;
  /** Unix milliseconds; after this anybody may take it. */
  readonly until: number;
}

export type Duties = ReturnType<typeof createDuties>;

export function createDuties(db: Db, now: () => number) {
  const duties: Collection<DutyDocument> = db.collection<DutyDocument>('duties');
  return {
    /** Takes the duty if nobody has it, or keeps it. False: another process has it. */
    async hold(duty: string, holder: string, heldMs: number): Promise<boolean> {
      const at = now();
      try {
        await duties.updateOne(
          { _id: duty, $or: [{ holder }, { until: { $lte: at } }] },
          { $set: { holder, until: at + heldMs } },
          { upsert: true },
        );
        return true;
      } catch (error) {
        if (!isDuplicateKey(error)) throw error;
        return false;
      }
    },
  };
}
