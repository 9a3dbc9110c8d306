import type { Document } from 'mongodb';
import { defined } from '../base/defined.ts';
import type { EndUserNames } from '../store/end-user-names.ts';
import { TooManyGroupsError, usageDimensions } from '../money/usage.ts';
import type { UsageAsked, UsageDimension, UsageRow } from '../money/usage.ts';
import { usageIndex, type LedgerCollection } from './collection.ts';
import type { EntryKind } from '../money/movement.ts';
import type { EntryDocument } from './entry.ts';
import { LedgerIntegrityError } from './ledger-errors.ts';
import { utcDays } from '../base/times.ts';

/** Shorter than the socket timeout, so that the server ends the query first. */
const readMsMax = 25_000;
const batchRows = 500;
/** Groups that span several days stay in memory until all days are read. This limits them to a few megabytes. */
const totalsMax = 20_000;

const fields = {
  account: 'account',
  day: 'day',
  model: 'model',
  key: 'key_id',
  end_user: 'end_user',
} as const satisfies Record<UsageDimension, keyof EntryDocument>;

interface UsageDeps {
  readonly collection: LedgerCollection;
  readonly endUsers: EndUserNames;
}

interface Found {
  readonly _id: Readonly<Partial<Record<UsageDimension, string | null>>> & { readonly kind: EntryKind };
  readonly entries: number | bigint;
  readonly amount: unknown;
}

/**
 * Runs one query per day, and only when the day's rows are consumed. MongoDB answers each query from the index alone.
 * Rows are ordered by group, end users by pseudonym.
 * @throws TooManyGroupsError
 */
export async function* readUsage(deps: UsageDeps, asked: UsageAsked): AsyncIterable<UsageRow> {
  const totals = new Map<string, UsageRow>();
  for (const day of utcDays(asked.from, asked.before)) {
    for await (const row of readDay(deps, day, asked)) {
      if (asked.by.includes('day')) yield row;
      else addTo(totals, row);
    }
  }
  const keys = [...totals.keys()].toSorted();
  for (const key of keys) {
    const row = totals.get(key);
    if (row !== undefined) yield row;
  }
}

function addTo(totals: Map<string, UsageRow>, row: UsageRow): void {
  const key = JSON.stringify(usageDimensions.map((dimension) => row.of[dimension] ?? ''));
  const sum = totals.get(key);
  if (sum === undefined && totals.size >= totalsMax) throw new TooManyGroupsError(totalsMax);
  totals.set(key, sum === undefined ? row : plus(sum, row));
}

function plus(one: UsageRow, other: UsageRow): UsageRow {
  return {
    of: one.of,
    tasks: one.tasks + other.tasks,
    settled: one.settled + other.settled,
    released: one.released + other.released,
    open: one.open + other.open,
    charged: one.charged + other.charged,
    refunded: one.refunded + other.refunded,
  };
}

async function* readDay(
  { collection, endUsers }: UsageDeps,
  day: string,
  asked: UsageAsked,
): AsyncIterable<UsageRow> {
  const cursor = collection.aggregate<Found>(pipelineOf(day, asked), {
    allowDiskUse: true,
    batchSize: batchRows,
    hint: usageIndex.name,
    maxTimeMS: readMsMax,
  });
  let group: Found[] = [];
  try {
    for await (const found of cursor) {
      const [first] = group;
      if (first !== undefined && !isSameGroup(first, found)) {
        yield rowOf(group, endUsers);
        group = [];
      }
      group.push(found);
    }
  } finally {
    await cursor.close();
  }
  if (group.length > 0) yield rowOf(group, endUsers);
}

function pipelineOf(day: string, { account, key, by }: UsageAsked): Document[] {
  const asked = usageDimensions.filter((dimension) => by.includes(dimension));
  const group = Object.fromEntries(asked.map((dimension) => [dimension, `$${fields[dimension]}`]));
  const order = asked.map((dimension) => [`_id.${dimension}`, 1] as const);
  return [
    { $match: { day, ...defined({ account, key_id: key }) } },
    { $group: { _id: { ...group, kind: '$kind' }, entries: { $sum: 1 }, amount: { $sum: '$amount' } } },
    { $sort: { ...Object.fromEntries(order), '_id.kind': 1 } },
  ];
}

function isSameGroup(one: Found, other: Found): boolean {
  return usageDimensions.every((dimension) => (one._id[dimension] ?? '') === (other._id[dimension] ?? ''));
}

function rowOf(group: readonly Found[], endUsers: EndUserNames): UsageRow {
  const byKind = new Map(group.map((found) => [found._id.kind, found]));
  const count = (kind: EntryKind): number => Number(byKind.get(kind)?.entries ?? 0);
  const sum = (kind: EntryKind): bigint => {
    const amount = byKind.get(kind)?.amount ?? 0n;
    if (typeof amount !== 'bigint') throw new LedgerIntegrityError(`the sum of ${kind} exceeds int64`);
    return amount;
  };
  const [tasks, settled, released] = [count('hold'), count('settle'), count('release')];
  return {
    of: dimensionsOf(group, endUsers),
    tasks,
    settled,
    released,
    open: tasks - settled - released,
    charged: sum('settle') + sum('charge_extra'),
    refunded: sum('refund'),
  };
}

function dimensionsOf([first]: readonly Found[], { read }: EndUserNames): UsageRow['of'] {
  const named = usageDimensions.flatMap((dimension) => {
    const stored = first?._id[dimension] ?? undefined;
    if (stored === undefined) return [];
    return [[dimension, dimension === 'end_user' ? read(stored) : stored] as const];
  });
  return Object.fromEntries(named);
}
