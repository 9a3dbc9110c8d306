import { z } from 'zod';
import type { RouteDeps } from '../deps.ts';
import { keyRoute, type Route } from '../route.ts';
import { statementQuery, statementReply, statementSuccess } from '../statements/reply.ts';

type Deps = Pick<RouteDeps, 'accounts' | 'ledger' | 'catalogue' | 'reports'>;

export function getStatement(deps: Deps): Route {
  return keyRoute({
    operationId: 'getStatement',
    scope: 'read_account',
    summary: "Get the account's statement for a month",
    description:
      'Contains the opening balance, every entry, the closing balance and the sums. It covers the whole account, whichever of its keys is used. For the current month, it covers the month so far. Statements of any length are streamed.',
    tag: 'Account',
    method: 'get',
    paths: ['/v1/statement'],
    input: z.object({ query: statementQuery }),
    success: statementSuccess,
    errors: ['concurrency_limit_exceeded'],
    async handle({ query, caller }) {
      const { name = '' } = (await deps.accounts.find(caller.account)) ?? {};
      const account = { id: caller.account, name };
      return statementReply({ ...query, account, reader: account.id }, deps);
    },
  });
}
