import { z } from 'zod';
import { formatMicros } from '../../domain/money.ts';
import type { RouteDeps } from '../deps.ts';
import { jsonReply, keyRoute } from '../route.ts';
import type { Route } from '../route.ts';

export function getBalance({ ledger, catalogue }: Pick<RouteDeps, 'ledger' | 'catalogue'>): Route {
  return keyRoute({
    operationId: 'getBalance',
    summary: "The account's balance",
    tag: 'Account',
    method: 'get',
    paths: ['/v1/balance'],
    input: z.object({}),
    success: {
      description: 'Decimal strings with six places.',
      schema: z
        .object({
          object: z.literal('balance'),
          currency: z.string(),
          available: z.string(),
          held: z.string().meta({ description: 'Held for unfinished tasks.' }),
        })
        .meta({ id: 'Balance' }),
    },
    errors: [],
    async handle({ caller }) {
      const { available, held } = await ledger.balance(caller.account);
      return jsonReply({
        object: 'balance',
        currency: catalogue.current().currency,
        available: formatMicros(available),
        held: formatMicros(held),
      });
    },
  });
}
