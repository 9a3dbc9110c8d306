import { z } from 'zod';
import { accountParams, findAccount } from '../admin-input.ts';
import type { RouteDeps } from '../deps.ts';
import { accountSchema, presentAccount } from '../presenters/account.ts';
import { adminRoute, jsonReply, type Route } from '../route.ts';

export function getAccount({ accounts, ledger }: Pick<RouteDeps, 'accounts' | 'ledger'>): Route {
  return adminRoute({
    operationId: 'getAccount',
    access: 'read',
    summary: 'Show an account and its balance',
    method: 'get',
    paths: ['/admin/v1/accounts/:account'],
    input: z.object({ params: accountParams }),
    success: { description: 'The account.', schema: accountSchema },
    errors: ['account_not_found'],
    async handle({ params }) {
      const account = await findAccount(accounts, params.account);
      return jsonReply(presentAccount(account, await ledger.balance(account.id)));
    },
  });
}
