import { z } from 'zod';
import { GatewayError } from '../../errors/errors.ts';
import { accountParams, findAccount, reason } from '../admin-input.ts';
import type { RouteDeps } from '../deps.ts';
import { accountSchema, closingChanges, presentAccount } from '../presenters/account.ts';
import { jsonReply, settingRoute, type Route } from '../route.ts';

type Deps = Pick<RouteDeps, 'accounts' | 'ledger' | 'now'>;

export function reopenAccount({ accounts, ledger, now }: Deps): Route {
  return settingRoute({
    operationId: 'reopenAccount',
    access: 'access',
    summary: 'Reopen a closed account',
    description:
      'Takes effect on every node within five seconds. The account’s keys work as they did before it was closed.',
    method: 'post',
    paths: ['/admin/v1/accounts/:account/reopen'],
    input: z.object({ params: accountParams, body: z.object({ reason }) }),
    success: { description: 'The account.', schema: accountSchema },
    errors: ['account_not_found', 'action_not_possible'],
    async handle({ params, body, operator: by }) {
      const { id, deletion, closedAt: before } = await findAccount(accounts, params.account);
      if (!(await accounts.reopen(id, { at: now(), by, action: 'reopened', reason: body.reason }))) {
        const why = deletion === undefined ? 'is not closed' : 'is being deleted, or has been deleted';
        throw new GatewayError('action_not_possible', `The account ${id} ${why}.`);
      }
      const account = await findAccount(accounts, id);
      const reply = jsonReply(presentAccount(account, await ledger.balance(id)));
      return { reply, changes: closingChanges(before, account.closedAt) };
    },
  });
}
