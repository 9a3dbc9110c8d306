import type { Micros } from '../money/money.ts';
import type { LedgerCollection } from './collection.ts';
import { keys, type EntryDocument } from './entry.ts';

export interface OpenHold {
  readonly account: string;
  readonly task: string;
  /** The amount held, or the part of the charge that is still owed. */
  readonly amount: Micros;
  readonly at: number;
}

const readTimeoutMs = 60_000;

export interface HoldRange {
  readonly from: string;
  readonly before: string;
  readonly limit: number;
}

/** Returns tasks with an open hold or an incomplete charge, ordered by name. Uses the unique index on `key`. */
export async function findOpenHoldsBetween(
  collection: LedgerCollection,
  { from, before, limit }: HoldRange,
): Promise<OpenHold[]> {
  const cursor = collection
    .find({ key: { $gte: from, $lt: before } }, { projection: { basis: 0, note: 0 } })
    .sort({ key: 1 })
    .maxTimeMS(readTimeoutMs);
  const open: OpenHold[] = [];
  const openOf = createOpenOf();
  try {
    for await (const entry of cursor) {
      const hold = openOf(entry);
      if (hold !== undefined) open.push(hold);
      if (open.length === limit) break;
    }
  } finally {
    await cursor.close();
  }
  return open;
}

type Entry = Pick<EntryDocument, 'key' | 'kind' | 'task' | 'account' | 'amount' | 'excess' | 'at'>;

function createOpenOf(): (entry: Entry) => OpenHold | undefined {
  let closed: string | undefined;
  let charged: string | undefined;
  return ({ key, kind, task, account, amount, excess, at }) => {
    if (task === undefined) return undefined;
    if (kind === 'charge_extra') charged = task;
    if (key === keys.close(task)) {
      closed = task;
      return excess === undefined || task === charged ? undefined : { account, task, amount: excess, at };
    }
    return kind === 'hold' && task !== closed ? { account, task, amount, at } : undefined;
  };
}
