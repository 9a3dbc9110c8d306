import type { Collection } from 'mongodb';
import type { LedgerTotals } from '../domain/census.ts';
import type { EntryDocument } from './entry.ts';

const readMsMax = 10_000;

/** One step of the index per account, however many entries it has: the server skips from head to head. */
export async function readLedgerTotals(collection: Collection<EntryDocument>): Promise<LedgerTotals> {
  const [totals] = await collection
    .aggregate<LedgerTotals>(
      [
        { $match: { account: { $gt: '' } } },
        { $sort: { account: 1, seq: -1 } },
        { $group: { _id: '$account', available: { $first: '$available' }, held: { $first: '$held' } } },
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
