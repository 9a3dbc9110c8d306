import { z } from 'zod';
import { formatMicros } from '../../domain/money.ts';
import type { LedgerEntry } from '../../ledger/entry.ts';
import { settledCost } from '../../domain/settled-facts.ts';
import { toSeconds, unixSeconds } from './unix-seconds.ts';

export const ledgerEntrySchema = z
  .object({
    object: z.literal('ledger.entry'),
    id: z.string(),
    account: z.string(),
    seq: z.int(),
    kind: z.enum(['credit', 'hold', 'void', 'settle', 'release', 'charge_extra', 'refund', 'adjust']),
    task: z.string().nullable(),
    amount: z.string(),
    available: z.string().meta({ description: 'After this entry.' }),
    held: z.string().meta({ description: 'After this entry.' }),
    note: z.string().nullable(),
    upstream_cost: z.object({ amount: z.string(), unit: z.string() }).nullable().meta({
      description:
        'Of the settlement of a synchronous image: what the vendor reported to charge for it. The cost of a task stands in the task.',
    }),
    at: unixSeconds(),
  })
  .meta({ id: 'LedgerEntry' });

export function presentLedgerEntry(entry: LedgerEntry): z.output<typeof ledgerEntrySchema> {
  return {
    object: 'ledger.entry',
    id: entry.id,
    account: entry.account,
    seq: Number(entry.seq),
    kind: entry.kind,
    task: entry.task ?? null,
    amount: formatMicros(entry.amount),
    available: formatMicros(entry.available),
    held: formatMicros(entry.held),
    note: entry.note ?? null,
    upstream_cost: settledCost(entry.basis) ?? null,
    at: toSeconds(entry.at),
  };
}
