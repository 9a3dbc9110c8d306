import { z } from 'zod';
import { formatMicros } from '../../domain/money.ts';
import type { Balance } from '../../ledger/ledger.ts';
import type { Account } from '../../store/accounts.ts';
import { changesSchema, presentChanges } from './change.ts';
import { toSeconds, unixSeconds } from './unix-seconds.ts';

export const accountSchema = z
  .object({
    object: z.literal('account'),
    id: z.string(),
    name: z.string(),
    overdraft_limit: z.string(),
    available: z.string(),
    held: z.string(),
    closed_at: unixSeconds('Since then nothing new is created; null: open.').nullable(),
    created_at: unixSeconds(),
    changes: changesSchema,
  })
  .meta({ id: 'Account' });

export function presentAccount(
  account: Account,
  { available, held }: Pick<Balance, 'available' | 'held'>,
): z.output<typeof accountSchema> {
  return {
    object: 'account',
    id: account.id,
    name: account.name,
    overdraft_limit: formatMicros(account.overdraftLimit),
    available: formatMicros(available),
    held: formatMicros(held),
    closed_at: account.closedAt === undefined ? null : toSeconds(account.closedAt),
    created_at: toSeconds(account.createdAt),
    changes: presentChanges(account.changes),
  };
}
