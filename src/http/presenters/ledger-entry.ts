import { z } from 'zod';
import { formatMicros } from '../../money/money.ts';
import { entryKinds, movementOf } from '../../money/movement.ts';
import type { LedgerEntry } from '../../ledger/entry.ts';
import { settledCost } from '../../money/settled-facts.ts';
import { toSeconds, unixSeconds } from './unix-seconds.ts';

export const movementMeaning =
  'Negative if the amount is held or charged, positive if it is returned or paid in.';

export const ledgerEntrySchema = z
  .object({
    object: z.literal('ledger.entry'),
    id: z.string(),
    account: z.string(),
    seq: z.int(),
    kind: z.enum(entryKinds),
    task: z.string().nullable(),
    key_id: z.string().nullable(),
    model: z.string().nullable(),
    end_user: z.string().nullable(),
    day: z.string().nullable().meta({
      description:
        'The UTC day to which the amount is attributed, which is the day of the hold. Null if the entry belongs to no task.',
    }),
    amount: z.string().meta({ description: movementMeaning }),
    available: z.string().meta({ description: 'After this entry.' }),
    held: z.string().meta({ description: 'After this entry.' }),
    note: z.string().nullable(),
    upstream_cost: z.object({ amount: z.string(), unit: z.string() }).nullable().meta({
      description:
        'The cost as the vendor reported it. Set only on settlements of synchronous images. For a task, see the task’s own `upstream_cost`.',
    }),
    cost: z.string().nullable().meta({
      description:
        'The known part of the task’s upstream cost, in the gateway’s currency. Set only on the entry that ended the task.',
    }),
    cost_unknown: z
      .int()
      .meta({ description: 'The number of attempts that may be billed for an unknown amount.' }),
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
    key_id: entry.key_id ?? null,
    model: entry.model ?? null,
    end_user: entry.endUser ?? null,
    day: entry.day ?? null,
    amount: formatMicros(movementOf(entry)),
    available: formatMicros(entry.available),
    held: formatMicros(entry.held),
    note: entry.note ?? null,
    upstream_cost: settledCost(entry.basis) ?? null,
    cost: knownCost(entry),
    cost_unknown: entry.upstream?.unknown ?? 0,
    at: toSeconds(entry.at),
  };
}

function knownCost({ upstream }: LedgerEntry): string | null {
  if (upstream === undefined || (upstream.cost === 0n && upstream.unknown > 0)) return null;
  return formatMicros(upstream.cost);
}
