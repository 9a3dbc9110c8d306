import { z } from 'zod';
import { formatMicros } from '../../domain/money.ts';
import type { Balance } from '../../ledger/ledger.ts';
import type { Account } from '../../store/accounts.ts';
import { toSeconds } from './video-task.ts';

export const accountSchema = z
  .object({
    object: z.literal('account'),
    id: z.string(),
    name: z.string(),
    overdraft_limit: z.string(),
    available: z.string(),
    held: z.string(),
    created_at: z.int(),
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
    created_at: toSeconds(account.createdAt),
  };
}
