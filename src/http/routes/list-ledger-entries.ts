import { z } from 'zod';
import { accountParams, findAccount, pageSize } from '../admin-input.ts';
import { queryNumber } from '../query-fields.ts';
import type { RouteDeps } from '../deps.ts';
import { ledgerEntrySchema, presentLedgerEntry } from '../presenters/ledger-entry.ts';
import { pageSchema, presentPage } from '../presenters/list.ts';
import { adminRoute, jsonReply, type Route } from '../route.ts';

const after = queryNumber(z.int().min(0).default(0)).meta({
  description: 'The page begins after this `seq`.',
});
const before = queryNumber(z.int().min(1).optional()).meta({
  description: 'The page begins before this `seq`. Used only with `order=newest`.',
});
const order = z.enum(['oldest', 'newest']).default('oldest');

export function listLedgerEntries({ accounts, ledger }: Pick<RouteDeps, 'accounts' | 'ledger'>): Route {
  return adminRoute({
    operationId: 'listLedgerEntries',
    access: 'amounts',
    summary: "List an account's ledger entries",
    method: 'get',
    paths: ['/admin/v1/accounts/:account/ledger'],
    input: z.object({ params: accountParams, query: z.object({ limit: pageSize, after, order, before }) }),
    success: { description: 'One page.', schema: pageSchema(ledgerEntrySchema) },
    errors: ['account_not_found'],
    async handle({ params, query }) {
      const account = await findAccount(accounts, params.account);
      if (query.order === 'newest') return jsonReply(await newestFirst(account.id, query, ledger));
      const found = await ledger.entries(account.id, { after: BigInt(query.after), limit: query.limit + 1 });
      return jsonReply(presentPage(found, query.limit, presentLedgerEntry));
    },
  });
}

async function newestFirst(
  account: string,
  { before: end, limit }: { readonly before?: number | undefined; readonly limit: number },
  ledger: RouteDeps['ledger'],
) {
  const { seq } = await ledger.balance(account);
  const last = end === undefined || BigInt(end) > seq ? seq : BigInt(end) - 1n;
  const skipped = last > BigInt(limit) ? last - BigInt(limit) : 0n;
  const found =
    last === 0n ? [] : await ledger.entries(account, { after: skipped, limit: Number(last - skipped) });
  return { object: 'list', data: found.toReversed().map(presentLedgerEntry), has_more: skipped > 0n };
}
