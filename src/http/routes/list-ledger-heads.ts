import { z } from 'zod';
import { defined } from '../../base/defined.ts';
import { pageSize } from '../admin-input.ts';
import type { RouteDeps } from '../deps.ts';
import { ledgerHeadSchema, presentLedgerHead } from '../presenters/ledger-head.ts';
import { pageSchema, presentPage } from '../presenters/list.ts';
import { adminRoute, jsonReply, type Route } from '../route.ts';

const query = z.object({
  limit: pageSize,
  after: z.string().optional().meta({ description: 'The id of the last head of the previous page.' }),
});

export function listLedgerHeads({ ledgerHeads }: Pick<RouteDeps, 'ledgerHeads'>): Route {
  return adminRoute({
    operationId: 'listLedgerHeads',
    access: 'amounts',
    summary: 'List the anchored heads of all accounts',
    description:
      'Once a day, and whenever a verification finds no violation in an account, the account’s last entry is recorded and signed. Keep these heads elsewhere and check them later with `POST /admin/v1/ledger/heads/check`, which reveals entries that have been removed from the end or rewritten since. Ordered by account and `seq`.',
    method: 'get',
    paths: ['/admin/v1/ledger/heads'],
    input: z.object({ query }),
    success: { description: 'One page.', schema: pageSchema(ledgerHeadSchema) },
    async handle({ query: { limit, after } }) {
      const found = await ledgerHeads.list({ limit: limit + 1, ...defined({ after }) });
      return jsonReply(presentPage(found, limit, presentLedgerHead));
    },
  });
}
