import { z } from 'zod';
import { GatewayError, invalidParameter } from '../../errors/errors.ts';
import { amountMax, formatMicros } from '../../money/money.ts';
import { accountParams, findAccount, money, optionalReason, plainWords } from '../admin-input.ts';
import { replayedHeader } from '../cost-headers.ts';
import type { RouteDeps } from '../deps.ts';
import { ledgerEntrySchema, presentLedgerEntry } from '../presenters/ledger-entry.ts';
import { adminRoute, jsonReply, type Route } from '../route.ts';

const referenceCharactersMax = 200;

const beyondLimit = `The account would have, or owe, more than ${formatMicros(amountMax)}.`;

const body = z.object({
  amount: money
    .refine((micros) => micros !== 0n, 'must not be zero')
    .meta({
      description: `A decimal string. Negative amounts are corrections. A balance is limited to ±${formatMicros(amountMax)}.`,
    }),
  reference: plainWords(referenceCharactersMax)
    .min(1)
    .meta({ description: 'A credit with the same reference is recorded only once.' }),
  note: optionalReason,
});

export function creditAccount({ accounts, ledger }: Pick<RouteDeps, 'accounts' | 'ledger'>): Route {
  return adminRoute({
    operationId: 'creditAccount',
    access: 'money',
    summary: 'Credit or correct an account',
    description:
      'A repeat with the same reference returns the first entry with `idempotency-replayed: true`.',
    method: 'post',
    paths: ['/admin/v1/accounts/:account/credits'],
    input: z.object({ params: accountParams, body }),
    success: { description: 'The entry, with the balances after it.', schema: ledgerEntrySchema },
    errors: ['account_not_found', 'idempotency_key_reused'],
    async handle({ params, body: { amount, reference, note }, operator }) {
      const account = await findAccount(accounts, params.account);
      const credited = await ledger.credit({
        account: account.id,
        amount,
        reference,
        note: note === '' ? `by ${operator}` : `by ${operator}: ${note}`,
      });
      if (!credited.ok) throw invalidParameter('amount', beyondLimit);
      const { entry, replayed } = credited;
      if (replayed && entry.amount !== amount) {
        throw new GatewayError(
          'idempotency_key_reused',
          'This reference was already used with a different amount.',
          {
            param: 'reference',
          },
        );
      }
      return jsonReply(presentLedgerEntry(entry), replayed ? replayedHeader : {});
    },
  });
}
