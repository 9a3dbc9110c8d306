import type { Micros } from '../domain/money.ts';
import type { LedgerCollection } from './collection.ts';
import { keys } from './entry.ts';

export interface OpenHold {
  readonly account: string;
  readonly task: string;
  readonly amount: Micros;
  /** Unix milliseconds. */
  readonly at: number;
}

export interface OpenHoldsOptions {
  /** Only holds taken before this (Unix milliseconds): the younger ones are in flight. */
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

export interface HoldRange {
  /** Tasks from this name on, and before that one. */
  readonly from: string;
  readonly before: string;
  readonly limit: number;
}

/**
 * The first open holds of tasks whose names lie in a range, in the order of their names: by the unique index on `key`.
 */
export async function findOpenHoldsBetween(
  collection: LedgerCollection,
  { from, before, limit }: HoldRange,
): Promise<OpenHold[]> {
  const cursor = collection
    .find({ key: { $gte: from, $lt: before } }, { projection: { basis: 0, note: 0 } })
    .sort({ key: 1 })
    .maxTimeMS(readTimeoutMs);
  const open: OpenHold[] = [];
  // A task's entries lie together, its close before its hold.
  let closed: string | undefined;
  try {
    for await (const { key, kind, task, account, amount, at } of cursor) {
      if (task === undefined) continue;
      if (key === keys.close(task)) closed = task;
      else if (kind === 'hold' && task !== closed) open.push({ account, task, amount, at });
      if (open.length === limit) break;
    }
  } finally {
    await cursor.close();
  }
  return open;
}
