import { defined } from '../../base/defined.ts';
import { z } from 'zod';
import { pageSize } from '../admin-input.ts';
import type { RouteDeps } from '../deps.ts';
import { accountSchema, presentAccount } from '../presenters/account.ts';
import { pageSchema } from '../presenters/list.ts';
import { adminRoute, jsonReply } from '../route.ts';
import type { Route } from '../route.ts';

export function listAccounts({ accounts, ledger }: Pick<RouteDeps, 'accounts' | 'ledger'>): Route {
  return adminRoute({
    operationId: 'listAccounts',
    access: 'read',
    summary: 'List accounts by id',
    method: 'get',
    paths: ['/admin/v1/accounts'],
    input: z.object({ query: z.object({ limit: pageSize, after: z.string().optional() }) }),
    success: { description: 'One page of accounts.', schema: pageSchema(accountSchema) },
    async handle({ query: { limit, after } }) {
      const found = await accounts.list({ limit: limit + 1, ...defined({ after }) });
      const data = [];
      // One at a time, so that a page occupies one connection to MongoDB, not a hundred.
      for (const account of found.slice(0, limit))
        data.push(presentAccount(account, await ledger.balance(account.id)));
      return jsonReply({ object: 'list', data, has_more: found.length > limit });
    },
  });
}
