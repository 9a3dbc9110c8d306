import { fieldChanges } from '../../base/field-changes.ts';
import { z } from 'zod';
import { accountDeleted } from '../../errors/errors.ts';
import { formatMicros } from '../../money/money.ts';
import { accountParams, findAccount, money, reason } from '../admin-input.ts';
import type { RouteDeps } from '../deps.ts';
import { accountSchema, presentAccount } from '../presenters/account.ts';
import { jsonReply, settingRoute, type Route } from '../route.ts';

const body = z.object({
  overdraft_limit: money
    .refine((micros) => micros >= 0n, 'must not be negative')
    .meta({ description: 'How far below zero the balance may fall because of holds.' }),
  reason,
});

type Deps = Pick<RouteDeps, 'accounts' | 'ledger' | 'now'>;

export function setOverdraft({ accounts, ledger, now }: Deps): Route {
  return settingRoute({
    operationId: 'setOverdraft',
    access: 'money',
    summary: 'Change the overdraft limit of an account',
    description: 'Takes effect on every node within five seconds. Existing holds remain.',
    method: 'post',
    paths: ['/admin/v1/accounts/:account/overdraft'],
    input: z.object({ params: accountParams, body }),
    success: { description: 'The account.', schema: accountSchema },
    errors: ['account_not_found', 'action_not_possible'],
    async handle({ params, body: { overdraft_limit: limit, reason: why }, operator: by }) {
      const { id, overdraftLimit: before } = await findAccount(accounts, params.account);
      const action = `overdraft ${formatMicros(before)} → ${formatMicros(limit)}`;
      const change = { at: now(), by, action, reason: why };
      if (!(await accounts.setOverdraftLimit(id, limit, change))) throw accountDeleted(id);
      const account = await findAccount(accounts, id);
      return {
        reply: jsonReply(presentAccount(account, await ledger.balance(id))),
        changes: fieldChanges(
          { overdraft_limit: formatMicros(before) },
          { overdraft_limit: formatMicros(limit) },
        ),
      };
    },
  });
}
