import { z } from 'zod';
import { GatewayError } from '../../errors/errors.ts';
import { formatMicros } from '../../money/money.ts';
import type { Balance } from '../../ledger/ledger.ts';
import { accountParams, findAccount, reason } from '../admin-input.ts';
import type { RouteDeps } from '../deps.ts';
import { accountSchema, closingChanges, presentAccount } from '../presenters/account.ts';
import { jsonReply, settingRoute, type Route } from '../route.ts';

type Deps = Pick<RouteDeps, 'accounts' | 'ledger' | 'now'>;

export function closeAccount({ accounts, ledger, now }: Deps): Route {
  return settingRoute({
    operationId: 'closeAccount',
    access: 'access',
    summary: 'Close an account',
    description:
      'Within five seconds, all nodes stop creating anything for the account. Tasks in flight continue and are settled, and keys can still read. Credits and corrections remain possible, so the balance can be settled.',
    method: 'post',
    paths: ['/admin/v1/accounts/:account/close'],
    input: z.object({ params: accountParams, body: z.object({ reason }) }),
    success: {
      description: 'The account, and an explanation of its balance.',
      schema: accountSchema.extend({ balance_note: z.string() }),
    },
    errors: ['account_not_found', 'action_not_possible'],
    async handle({ params, body, operator: by }) {
      const { id, closedAt: before } = await findAccount(accounts, params.account);
      if (!(await accounts.close(id, { at: now(), by, action: 'closed', reason: body.reason }))) {
        throw new GatewayError('action_not_possible', `The account ${id} is already closed.`);
      }
      const [account, balance] = await Promise.all([findAccount(accounts, id), ledger.balance(id)]);
      return {
        reply: jsonReply({ ...presentAccount(account, balance), balance_note: explain(balance) }),
        changes: closingChanges(before, account.closedAt),
      };
    },
  });
}

function explain({ available, held }: Pick<Balance, 'available' | 'held'>): string {
  const running =
    held === 0n
      ? 'Nothing is held, because no task is in flight.'
      : `${formatMicros(held)} is held for tasks in flight. The unused part is released when they end.`;
  if (available === 0n) return `${running} Nothing is available.`;
  const amount = formatMicros(-available);
  return available > 0n
    ? `${running} ${formatMicros(available)} is available. After you pay it out, record a credit of ${amount}.`
    : `${running} The account owes ${amount}. When it is paid, record a credit of ${amount}.`;
}
