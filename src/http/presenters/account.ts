import { z } from 'zod';
import type { ConfigChange } from '../../base/config-change.ts';
import { fieldChanges } from '../../base/field-changes.ts';
import { formatMicros } from '../../money/money.ts';
import type { Balance } from '../../ledger/ledger.ts';
import type { PriceFactors } from '../../money/price-factors.ts';
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
          .meta({ description: 'Whether names that differ only in case are treated as one end user.' }),
        users: z.array(capsSchema.extend({ user: z.string() })),
      })
      .nullable()
      .meta({ description: 'The caps that apply to each end user. Null means no caps.' }),
    price_factors: z
      .object({
        factor: z.string().meta({ description: 'The factor for all other models.' }),
        models: z.array(z.object({ model: z.string(), factor: z.string() })),
      })
      .nullable()
      .meta({
        description:
          'The factors by which the account’s prices are multiplied. Null means that the prices apply unchanged.',
      }),
    available: z.string(),
    held: z.string(),
    closed_at: unixSeconds(
      'Nothing new can be created from this time on. Null if the account is open.',
    ).nullable(),
    created_at: unixSeconds(),
    deletion: z
      .object({
        by: z.string(),
        reason: z.string(),
        requested_at: unixSeconds(),
        finished_at: unixSeconds('Null until everything is removed.').nullable(),
      })
      .nullable()
      .meta({ description: 'Null unless the account is or was being deleted.' }),
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
    price_factors: account.priceFactors === undefined ? null : presentFactors(account.priceFactors),
    available: formatMicros(available),
    held: formatMicros(held),
    closed_at: secondsOrNull(account.closedAt),
    created_at: toSeconds(account.createdAt),
    deletion: account.deletion === undefined ? null : presentDeletion(account.deletion),
    changes: presentChanges(account.changes),
  };
}

export function closingChanges(
  before: Account['closedAt'],
  after: Account['closedAt'],
): readonly ConfigChange[] {
  return fieldChanges({ closed: before !== undefined }, { closed: after !== undefined });
}

function presentFactors({ all = '1', models }: PriceFactors) {
  return { factor: all, models: [...models].map(([model, factor]) => ({ model, factor })) };
}

function presentDeletion({ by, reason, requestedAt, finishedAt }: AccountDeletion) {
  return {
    by,
    reason,
    requested_at: toSeconds(requestedAt),
    finished_at: secondsOrNull(finishedAt),
  };
}
