import type { Db } from 'mongodb';
import { durable, openCollection, unlessThere } from './mongo.ts';

/** What one of all processes does, as long as it lives. */
interface DutyDocument {
  readonly _id: string;
  /** Rises with each turn of whoever does it. */
  readonly turn: number;
}

export type Duties = ReturnType<typeof createDuties>;

export function createDuties(db: Db) {
  const duties = openCollection<DutyDocument>(db, 'duties', durable);
  return {
    /** 0: nobody has ever done it. */
    async turn(duty: string): Promise<number> {
      return (await duties.findOne({ _id: duty }))?.turn ?? 0;
    },

    /** True: the turn after the one that was seen is ours. */
    async takeTurn(duty: string, seen: number): Promise<boolean> {
      if (seen > 0) {
        const taken = await duties.updateOne({ _id: duty, turn: seen }, { $set: { turn: seen + 1 } });
        return taken.matchedCount === 1;
      }
      return unlessThere(() => duties.insertOne({ _id: duty, turn: 1 }));
    },
  };
}
