import { z } from 'zod';
import { accountParams, findAccount, pageSize } from '../admin-input.ts';
import { queryNumber } from '../query-fields.ts';
import type { RouteDeps } from '../deps.ts';
import { ledgerEntrySchema, presentLedgerEntry } from '../presenters/ledger-entry.ts';
import { adminRoute, jsonReply } from '../route.ts';
import type { Route } from '../route.ts';

const after = queryNumber(z.int().min(0).default(0)).meta({
  description: 'The page begins after this `seq`.',
});

export function listLedgerEntries({ accounts, ledger }: Pick<RouteDeps, 'accounts' | 'ledger'>): Route {
  return adminRoute({
    operationId: 'listLedgerEntries',
    summary: "List an account's ledger entries, oldest first",
    tag: 'Operators',
    method: 'get',
    paths: ['/admin/v1/accounts/:account/ledger'],
    input: z.object({ params: accountParams, query: z.object({ limit: pageSize, after }) }),
    success: {
      description: 'One page.',
      schema: z.object({
        object: z.literal('list'),
        data: z.array(ledgerEntrySchema),
        has_more: z.boolean(),
      }),
    },
    errors: ['account_not_found'],
    async handle({ params, query }) {
      const account = await findAccount(accounts, params.account);
      const found = await ledger.entries(account.id, { after: BigInt(query.after), limit: query.limit + 1 });
      const data = found.slice(0, query.limit).map(presentLedgerEntry);
      return jsonReply({ object: 'list', data, has_more: found.length > query.limit });
    },
  });
}
