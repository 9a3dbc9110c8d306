import type { Collection, Db } from 'mongodb';
import { durable, openCollection, repeatOnDuplicate } from './mongo.ts';

/** The last confirmed time of the database. Times are in Unix milliseconds. */
export interface ClockMark {
  readonly at: number;
  /** Increases with each confirmation by a process or an operator. */
  readonly rev: number;
  /** Absent: no process contradicts the time. */
  readonly jump?: ClockJump;
}

export interface ClockJump {
  /** What the time was by the process's own count. */
  readonly expected: number;
  /** What the database said. */
  readonly seen: number;
}

interface MarkDocument extends ClockMark {
  readonly _id: 'database';
}

export type ClockMarks = ReturnType<typeof createClockMarks>;

/** One document, shared by all processes: it outlives each of them. */
export function createClockMarks(db: Db) {
  const marks: Collection<MarkDocument> = openCollection<MarkDocument>(db, 'clock', durable);
  const _id = 'database';
  return {
    async find(): Promise<ClockMark | undefined> {
      return (await marks.findOne({ _id })) ?? undefined;
    },

    /** The time is right: a process has counted it, or an operator says so. */
    async confirm(at: number): Promise<void> {
      const update = { $set: { at }, $inc: { rev: 1 }, $unset: { jump: '' } } as const;
      await repeatOnDuplicate(() => marks.updateOne({ _id }, update, { upsert: true }));
    },

    /** Nothing happens if the time was confirmed since the mark was read. */
    async contradict({ rev }: Pick<ClockMark, 'rev'>, jump: ClockJump): Promise<void> {
      await marks.updateOne({ _id, rev }, { $set: { jump } });
    },
  };
}
