import { z } from 'zod';
import { capStates, capsOf } from '../../money/caps.ts';
import { formatMicros } from '../../money/money.ts';
import type { RouteDeps } from '../deps.ts';
import { capSchema, presentCap } from '../presenters/cap.ts';
import { jsonReply, keyRoute, type Route } from '../route.ts';

export function getBalance({ ledger, catalogue }: Pick<RouteDeps, 'ledger' | 'catalogue'>): Route {
  return keyRoute({
    operationId: 'getBalance',
    scope: 'read_account',
    summary: "Get the account's balance",
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
          held: z.string().meta({ description: 'The amount held for unfinished tasks.' }),
          caps: z
            .array(capSchema)
            .meta({ description: 'The key’s caps for all models. See also `GET /v1/key`.' }),
        })
        .meta({ id: 'Balance' }),
    },
    async handle({ caller }) {
      const { account, key, caps } = caller;
      const { available, held } = await ledger.balance(account);
      const own = capsOf('key', caps?.all);
      const uses = own.length === 0 ? new Map() : await ledger.uses(account, { key });
      return jsonReply({
        object: 'balance',
        currency: catalogue.current().currency,
        available: formatMicros(available),
        held: formatMicros(held),
        caps: capStates(own, uses).map(presentCap),
      });
    },
  });
}
