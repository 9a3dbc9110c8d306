import type { Collection, Db } from 'mongodb';
import type { LedgerTotals } from '../reports/census.ts';
import type { Micros } from '../money/money.ts';
import { ledgerCollection } from './collection.ts';
import type { EntryDocument } from './entry.ts';

const readMsMax = 10_000;
const lowMax = 10_000;

const heads = [
  { $match: { account: { $gt: '' } } },
  { $sort: { account: 1, seq: -1 } },
  { $group: { _id: '$account', available: { $first: '$available' }, held: { $first: '$held' } } },
];

export async function readLedgerTotals(collection: Collection<EntryDocument>): Promise<LedgerTotals> {
  const [totals] = await collection
    .aggregate<LedgerTotals>(
      [
        ...heads,
        {
          $group: {
            _id: null,
            available: { $sum: '$available' },
            held: { $sum: '$held' },
            overdrawn: { $sum: { $cond: [{ $lt: ['$available', 0] }, 1, 0] } },
          },
        },
      ],
      { maxTimeMS: readMsMax },
    )
    .toArray();
  return totals ?? { available: 0n, held: 0n, overdrawn: 0 };
}

export function ledgerTotalsOf(db: Db): Promise<LedgerTotals> {
  return readLedgerTotals(ledgerCollection(db));
}

export async function readLowBalances(
  db: Db,
  below: Micros,
): Promise<readonly { readonly account: string; readonly available: Micros }[]> {
  const found = await ledgerCollection(db)
    .aggregate<{ readonly _id: string; readonly available: Micros }>(
      [
        ...heads,
        { $match: { available: { $lt: below } } },
        { $sort: { available: 1, _id: 1 } },
        { $limit: lowMax },
      ],
      { maxTimeMS: readMsMax },
    )
    .toArray();
  return found.map(({ _id: account, available }) => ({ account, available }));
}
