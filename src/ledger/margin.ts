import type { Document } from 'mongodb';
import { marginDimensions, marginOf } from '../money/margin.ts';
import type { MarginAsked, MarginDimension, MarginRow } from '../money/margin.ts';
import type { EndUserNames } from '../store/end-user-names.ts';
import { utcDays } from '../base/times.ts';
import { TooManyGroupsError } from '../money/usage.ts';
import type { LedgerCollection } from './collection.ts';
import { LedgerIntegrityError } from './ledger-errors.ts';

/** Shorter than the socket timeout, so that the server ends the query first. */
const readMsMax = 25_000;
/** Rows are sorted by margin, so all groups of a report are in memory at once. This limits them to a few megabytes. */
const groupsMax = 20_000;

const fields: Readonly<Record<MarginDimension, string>> = {
  day: '$ended_on',
  channel: '$upstream.channel',
  model: '$upstream.model',
  account: '$account',
  key: '$key_id',
  end_user: '$end_user',
};

interface MarginDeps {
  readonly collection: Pick<LedgerCollection, 'aggregate'>;
  readonly endUsers: EndUserNames;
}

interface Found {
  readonly _id: Readonly<Partial<Record<MarginDimension, string | null>>>;
  readonly tasks: number | bigint;
  readonly charged: unknown;
  readonly refunded: unknown;
  readonly cost: unknown;
  readonly unknown: number | bigint;
}

/**
 * Runs one query per day on the index `ended_on`. Rows are ordered by day and then by margin, lowest first.
 * @throws TooManyGroupsError
 */
export async function* readMargin(
  { collection, endUsers }: MarginDeps,
  { from, before, by }: MarginAsked,
): AsyncIterable<MarginRow> {
  const rows = new Map<string, MarginRow>();
  for (const day of utcDays(from, before)) {
    const groups = collection.aggregate<Found>(pipelineOf(day, by), { maxTimeMS: readMsMax });
    for await (const found of groups) {
      const row = rowOf(found, endUsers);
      const name = nameOf(row);
      const sum = rows.get(name);
      if (sum === undefined && rows.size >= groupsMax) throw new TooManyGroupsError(groupsMax);
      rows.set(name, sum === undefined ? row : plus(sum, row));
    }
  }
  yield* [...rows.values()].toSorted(
    (a, b) =>
      compare(a.of.day ?? '', b.of.day ?? '') ||
      compare(marginOf(a), marginOf(b)) ||
      compare(nameOf(a), nameOf(b)),
  );
}

function pipelineOf(day: string, by: readonly MarginDimension[]): Document[] {
  const isRefund = { $eq: ['$kind', 'refund'] };
  const charge = { $add: ['$amount', { $ifNull: ['$excess', 0n] }] };
  return [
    { $match: { ended_on: day } },
    {
      $group: {
        _id: Object.fromEntries(by.map((dimension) => [dimension, fields[dimension]])),
        tasks: { $sum: { $cond: [isRefund, 0, 1] } },
        charged: { $sum: { $cond: [{ $eq: ['$kind', 'settle'] }, charge, 0n] } },
        refunded: { $sum: { $cond: [isRefund, '$amount', 0n] } },
        cost: { $sum: '$upstream.cost' },
        unknown: { $sum: '$upstream.unknown' },
      },
    },
  ];
}

function rowOf({ _id: names, tasks, unknown, ...sums }: Found, { read }: EndUserNames): MarginRow {
  const sum = (name: keyof typeof sums): bigint => {
    const amount = sums[name];
    if (typeof amount !== 'bigint') throw new LedgerIntegrityError(`the sum of ${name} exceeds int64`);
    return amount;
  };
  const of = Object.fromEntries(
    marginDimensions.flatMap((dimension) => {
      const stored = names[dimension] ?? '';
      if (stored === '') return [];
      return [[dimension, dimension === 'end_user' ? read(stored) : stored] as const];
    }),
  );
  return {
    of,
    tasks: Number(tasks),
    unknown: Number(unknown),
    charged: sum('charged'),
    refunded: sum('refunded'),
    cost: sum('cost'),
  };
}

function plus(one: MarginRow, other: MarginRow): MarginRow {
  return {
    of: one.of,
    tasks: one.tasks + other.tasks,
    charged: one.charged + other.charged,
    refunded: one.refunded + other.refunded,
    cost: one.cost + other.cost,
    unknown: one.unknown + other.unknown,
  };
}

function nameOf({ of }: MarginRow): string {
  return JSON.stringify(marginDimensions.map((dimension) => of[dimension] ?? ''));
}

function compare<Value extends bigint | string>(a: Value, b: Value): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
