import { z } from 'zod';
import { formatMicros } from '../../money/money.ts';
import { accountParams, findAccount } from '../admin-input.ts';
import type { RouteDeps } from '../deps.ts';
import { toSeconds, unixSeconds } from '../presenters/unix-seconds.ts';
import { queryNumber } from '../query-fields.ts';
import { adminRoute, jsonReply, type Route } from '../route.ts';

type Deps = Pick<RouteDeps, 'accounts' | 'ledger' | 'catalogue' | 'now'>;

const at = queryNumber(z.int().min(0).max(99_999_999_999).optional()).meta({
  description: 'Unix seconds, exclusive: later entries are ignored. Defaults to now.',
});

export function getAccountBalance({ accounts, ledger, catalogue, now }: Deps): Route {
  return adminRoute({
    operationId: 'getAccountBalance',
    access: 'amounts',
    summary: "Get an account's balance at any time",
    method: 'get',
    paths: ['/admin/v1/accounts/:account/balance'],
    input: z.object({ params: accountParams, query: z.object({ at }) }),
    success: {
      description: 'Decimal strings with six places.',
      schema: z
        .object({
          object: z.literal('account.balance'),
          account: z.string(),
          currency: z.string(),
          at: unixSeconds(),
          available: z.string(),
          held: z.string(),
          seq: z.int().meta({ description: 'The number of the last entry included, or 0 if there is none.' }),
        })
        .meta({ id: 'AccountBalance' }),
    },
    errors: ['account_not_found'],
    async handle({ params, query }) {
      const { id: account } = await findAccount(accounts, params.account);
      const asked = query.at;
      const found =
        asked === undefined ? ledger.balance(account) : ledger.balanceBefore(account, asked * 1000);
      const { available, held, seq } = await found;
      return jsonReply({
        object: 'account.balance',
        account,
        currency: catalogue.current().currency,
        at: asked ?? toSeconds(now()),
        available: formatMicros(available),
        held: formatMicros(held),
        seq: Number(seq),
      });
    },
  });
}
