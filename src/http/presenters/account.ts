import { z } from 'zod';
import { formatMicros } from '../../money/money.ts';
import type { Balance } from '../../ledger/ledger.ts';
import type { Account, AccountDeletion } from '../../store/accounts.ts';
import { capsSchema, presentCaps } from './cap.ts';
import { changesSchema, presentChanges } from './change.ts';
import { secondsOrNull, toSeconds, unixSeconds } from './unix-seconds.ts';

export const accountSchema = z
  .object({
    object: z.literal('account'),
    id: z.string(),
    name: z.string(),
    overdraft_limit: z.string(),
    end_user_caps: capsSchema
      .extend({
        ignore_case: z
          .boolean()
          .meta({ description: 'Whether names that differ only in case count as one end user.' }),
        users: z.array(capsSchema.extend({ user: z.string() })),
      })
      .nullable()
      .meta({ description: 'What each end user may spend; null: no caps.' }),
    available: z.string(),
    held: z.string(),
    closed_at: unixSeconds('Since then nothing new is created; null: open.').nullable(),
    created_at: unixSeconds(),
    deletion: z
      .object({
        by: z.string(),
        reason: z.string(),
        requested_at: unixSeconds(),
        finished_at: unixSeconds('null: there is more to be removed.').nullable(),
      })
      .nullable()
      .meta({ description: 'null: the account is not deleted.' }),
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
    end_user_caps:
      account.endUserCaps === undefined
        ? null
        : {
            ...presentCaps(account.endUserCaps.default ?? {}),
            ignore_case: account.endUserCaps.ignoreCase ?? false,
            users: [...account.endUserCaps.named].map(([user, caps]) => ({ user, ...presentCaps(caps) })),
          },
    available: formatMicros(available),
    held: formatMicros(held),
    closed_at: secondsOrNull(account.closedAt),
    created_at: toSeconds(account.createdAt),
    deletion: account.deletion === undefined ? null : presentDeletion(account.deletion),
    changes: presentChanges(account.changes),
  };
}

function presentDeletion({ by, reason, requestedAt, finishedAt }: AccountDeletion) {
  return {
    by,
    reason,
    requested_at: toSeconds(requestedAt),
    finished_at: secondsOrNull(finishedAt),
  };
}
