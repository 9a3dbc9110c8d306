import type { Micros } from '../domain/money.ts';
import type { LedgerCollection } from './collection.ts';

export interface OpenHold {
  readonly account: string;
  readonly task: string;
  readonly amount: Micros;
  /** Unix milliseconds. */
  readonly at: number;
}

export interface OpenHoldsOptions {
  /** Only holds taken before this (Unix milliseconds): the younger ones are on their way. */
  readonly takenBefore?: number;
  /** Entries read at most, newest first. */
  readonly entriesMax?: number;
}

const entriesMaxDefault = 1_000_000;
const readTimeoutMs = 60_000;

/**
 * Walks an account backwards and stops where the open holds add up to the balance `held`: nothing before that can
 * be open. An account that holds nothing costs one entry. Holds of zero lock nothing and may be left out.
 */
export async function findOpenHolds(
  collection: LedgerCollection,
  account: string,
  options: OpenHoldsOptions,
): Promise<OpenHold[]> {
  const cursor = collection
    .find({ account }, { projection: { basis: 0, note: 0 } })
    .sort({ seq: -1 })
    .limit(options.entriesMax ?? entriesMaxDefault)
    .maxTimeMS(readTimeoutMs);
  // Tasks whose close was passed and whose hold was not yet: as many as run at one time.
  const closed = new Set<string>();
  const open: OpenHold[] = [];
  let unexplained: Micros | undefined;
  try {
    for await (const entry of cursor) {
      unexplained ??= entry.held;
      if (unexplained <= 0n) break;
      if (entry.task === undefined) continue;
      if (entry.kind === 'settle' || entry.kind === 'release') closed.add(entry.task);
      if (entry.kind !== 'hold' || closed.delete(entry.task)) continue;
      open.push({ account, task: entry.task, amount: entry.amount, at: entry.at });
      unexplained -= entry.amount;
    }
  } finally {
    await cursor.close();
  }
  const { takenBefore } = options;
  return takenBefore === undefined ? open : open.filter(({ at }) => at < takenBefore);
}
