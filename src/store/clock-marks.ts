import type { Collection, Db } from 'mongodb';
import { durable, openCollection, repeatOnDuplicate } from './mongo.ts';

/** The last time that was confirmed as correct. Times are in Unix milliseconds. */
export interface ClockMark {
  readonly at: number;
  /** Increases whenever a process or an operator confirms the time. */
  readonly rev: number;
  readonly jump?: ClockJump;
}

export interface ClockJump {
  /** The time that the process expected, according to its monotonic clock. */
  readonly expected: number;
  readonly seen: number;
}

interface MarkDocument extends ClockMark {
  readonly _id: 'database';
}

export type ClockMarks = ReturnType<typeof createClockMarks>;

/** All processes share this document, which outlives them. */
export function createClockMarks(db: Db) {
  const marks: Collection<MarkDocument> = openCollection<MarkDocument>(db, 'clock', durable);
  const _id = 'database';
  return {
    async find(): Promise<ClockMark | undefined> {
      return (await marks.findOne({ _id })) ?? undefined;
    },

    /** Records a time that an operator, or a process's monotonic clock, has confirmed. */
    async confirm(at: number): Promise<void> {
      const update = { $set: { at }, $inc: { rev: 1 }, $unset: { jump: '' } } as const;
      await repeatOnDuplicate(() => marks.updateOne({ _id }, update, { upsert: true }));
    },

    /** Does nothing if the time has been confirmed since the mark was read. */
    async contradict({ rev }: Pick<ClockMark, 'rev'>, jump: ClockJump): Promise<void> {
      await marks.updateOne({ _id, rev }, { $set: { jump } });
    },
  };
}
