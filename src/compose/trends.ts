import { createReadTrends, type ReadTrends } from '../observability/read-trends.ts';
import { ledgerCollection } from '../ledger/collection.ts';
import { readLedgerFlows } from '../ledger/flows.ts';
import type { Core } from './core.ts';

export function openTrends({ stores, mongo, now }: Pick<Core, 'stores' | 'mongo' | 'now'>): ReadTrends {
  const collection = ledgerCollection(mongo.db);
  return createReadTrends({ ...stores, ledgerFlows: (asked) => readLedgerFlows(collection, asked), now });
}
