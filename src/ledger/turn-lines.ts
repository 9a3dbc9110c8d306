import type { Collection, Db } from 'mongodb';
import { ensureIndexes, expiring, openCollection, primaryOnly, repeatOnDuplicate } from '../store/mongo.ts';

/**
 * A queue of processes that want to append to the same account. The ledger would be correct without it, because its
 * only purpose is to avoid lost races.
 */
interface LineDocument {
  readonly _id: string;
  readonly line: readonly string[];
  readonly turn: number;
  readonly expires: Date;
}

export interface SeenLine {
  readonly line: readonly string[];
  readonly turn: number;
}

export interface TurnLines {
  join(account: string, process: string): Promise<SeenLine>;
  look(account: string): Promise<SeenLine>;
  leave(account: string, process: string): Promise<SeenLine>;
}

const keptMs = 3_600_000;
const nobody: SeenLine = { line: [], turn: 0 };

export const alone: TurnLines = {
  join: () => Promise.resolve(nobody),
  look: () => Promise.resolve(nobody),
  leave: () => Promise.resolve(nobody),
};

export function createTurnLines(db: Db, now: () => number): TurnLines {
  const lines = linesOf(db);
  const shown = { projection: { line: 1, turn: 1 } };
  return {
    join: async (account, process) =>
      repeatOnDuplicate(async () => {
        const update = {
          $addToSet: { line: process },
          $set: { expires: new Date(now() + keptMs) },
          $setOnInsert: { turn: 0 },
        };
        const options = { ...shown, upsert: true, returnDocument: 'after' } as const;
        return (await lines.findOneAndUpdate({ _id: account }, update, options)) ?? nobody;
      }),

    look: async (account) => (await lines.findOne({ _id: account }, shown)) ?? nobody,

    async leave(account, process) {
      const update = { $pull: { line: process }, $inc: { turn: 1 } };
      const options = { ...shown, returnDocument: 'after' } as const;
      return (await lines.findOneAndUpdate({ _id: account }, update, options)) ?? nobody;
    },
  };
}

export async function ensureTurnLineIndexes(db: Db): Promise<void> {
  await ensureIndexes(linesOf(db), [expiring]);
}

/**
 * Reads from the primary without waiting for a majority, so that a process that has just joined is visible. If its
 * write is rolled back, the only harm is a lost race.
 */
function linesOf(db: Db): Collection<LineDocument> {
  return openCollection<LineDocument>(db, 'ledger_lines', primaryOnly);
}
