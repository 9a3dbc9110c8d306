import type { Db } from 'mongodb';
import { durable, openCollection, unlessThere } from './mongo.ts';

/** A duty is work that only one process performs at a time. That process keeps the duty for as long as it lives. */
interface DutyDocument {
  readonly _id: string;
  /** Increases each time another process takes over. */
  readonly turn: number;
}

export type Duties = ReturnType<typeof createDuties>;

export function createDuties(db: Db) {
  const duties = openCollection<DutyDocument>(db, 'duties', durable);
  return {
    async turn(duty: string): Promise<number> {
      return (await duties.findOne({ _id: duty }))?.turn ?? 0;
    },

    /** Returns true if this process took over. If several processes read the same `seen`, only one of them succeeds. */
    async takeTurn(duty: string, seen: number): Promise<boolean> {
      if (seen > 0) {
        const taken = await duties.updateOne({ _id: duty, turn: seen }, { $set: { turn: seen + 1 } });
        return taken.matchedCount === 1;
      }
      return unlessThere(() => duties.insertOne({ _id: duty, turn: 1 }));
    },
  };
}
