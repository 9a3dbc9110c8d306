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

const readTimeoutMs = 60_000;

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
