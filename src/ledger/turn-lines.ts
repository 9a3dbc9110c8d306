import type { Collection, Db } from 'mongodb';
import { ensureIndexes, expiring, openCollection, primaryOnly, repeatOnDuplicate } from '../store/mongo.ts';

/** The processes that want to append to one account. Books are right without it: it spares them races, nothing else. */
interface LineDocument {
  /** The account. */
  readonly _id: string;
  /** Names of processes, first come, first served. */
  readonly line: readonly string[];
  /** Rises whenever one leaves. */
  readonly turn: number;
  /** For MongoDB's TTL. */
  readonly expires: Date;
}

export interface SeenLine {
  readonly line: readonly string[];
  readonly turn: number;
}

/** One command each; they reject where MongoDB does not answer. */
export interface TurnLines {
  /** At the end of the line, unless the process stands in it. */
  join(account: string, process: string): Promise<SeenLine>;
  look(account: string): Promise<SeenLine>;
  /** Without the process from now on. */
  leave(account: string, process: string): Promise<SeenLine>;
}

const keptMs = 3_600_000;
const nobody: SeenLine = { line: [], turn: 0 };

/** Of a process that shares its accounts with no other. */
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
 * The primary's word, and no majority's: what is rolled back costs a race. A majority would not see yet who has just
 * joined, and where it sees nobody everybody is first.
 */
function linesOf(db: Db): Collection<LineDocument> {
  return openCollection<LineDocument>(db, 'ledger_lines', primaryOnly);
}
