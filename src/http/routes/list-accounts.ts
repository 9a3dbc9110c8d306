import { defined } from '../../base/defined.ts';
import { z } from 'zod';
import { pageSize } from '../admin-input.ts';
import type { RouteDeps } from '../deps.ts';
import { accountSchema, presentAccount } from '../presenters/account.ts';
import { pageSchema } from '../presenters/list.ts';
import { adminRoute, jsonReply, type Route } from '../route.ts';

/**
 * How many balances are read at once. Without this limit, one page of results would tie up a MongoDB connection per
 * account.
 */
const balancesAtOnce = 4;

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
      const page = found.slice(0, limit);
      const data = [];
      for (let from = 0; from < page.length; from += balancesAtOnce) {
        const part = page.slice(from, from + balancesAtOnce);
        const balances = part.map(async (one) => presentAccount(one, await ledger.balance(one.id)));
        data.push(...(await Promise.all(balances)));
      }
      return jsonReply({ object: 'list', data, has_more: found.length > limit });
    },
  });
}
