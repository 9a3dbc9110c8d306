import { z } from 'zod';
import { accountParams, findAccount } from '../admin-input.ts';
import type { RouteDeps } from '../deps.ts';
import { adminRoute, type Route } from '../route.ts';
import { statementQuery, statementReply, statementSuccess } from '../statements/reply.ts';

type Deps = Pick<RouteDeps, 'accounts' | 'ledger' | 'catalogue' | 'reports'>;

export function getAccountStatement(deps: Deps): Route {
  return adminRoute({
    operationId: 'getAccountStatement',
    access: 'amounts',
    summary: "Get an account's statement for a month",
    description: 'Returns the same statement that the account’s owner sees.',
    method: 'get',
    paths: ['/admin/v1/accounts/:account/statement'],
    input: z.object({ params: accountParams, query: statementQuery }),
    success: statementSuccess,
    errors: ['account_not_found', 'concurrency_limit_exceeded'],
    async handle({ params, query, operator }) {
      const account = await findAccount(deps.accounts, params.account);
      return statementReply({ ...query, account, reader: operator }, deps);
    },
  });
}
