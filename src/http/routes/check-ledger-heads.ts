import { z } from 'zod';
import type { RouteDeps } from '../deps.ts';
import { adminRoute, jsonReply, type Route } from '../route.ts';

const headsMax = 100;
const textMax = 128;

const head = z.object({
  account: z.string().max(textMax),
  seq: z.int().min(1),
  hash: z.string().max(textMax),
  at: z.int().min(0).max(253_402_300_799).meta({ description: 'Unix seconds.' }),
  signature: z.string().max(textMax),
});

export function checkLedgerHeads({ ledgerHeads }: Pick<RouteDeps, 'ledgerHeads'>): Route {
  return adminRoute({
    operationId: 'checkLedgerHeads',
    access: 'amounts',
    summary: 'Check heads that were stored elsewhere',
    description:
      'Checks that the ledger still contains these entries, each of which was once the last one of its account, as listed by `GET /admin/v1/ledger/heads`. `POST /admin/v1/ledger/verify` checks the entries before them.',
    method: 'post',
    paths: ['/admin/v1/ledger/heads/check'],
    input: z.object({ body: z.object({ heads: z.array(head).min(1).max(headsMax) }) }),
    success: {
      description: 'The violations, if any.',
      schema: z.object({ checked: z.int(), violations: z.array(z.object({ message: z.string() })) }),
    },
    async handle({ body: { heads } }) {
      const given = heads.map(({ seq, at, ...rest }) => ({ ...rest, seq: BigInt(seq), at: at * 1000 }));
      const faults = await ledgerHeads.check(given);
      return jsonReply({ checked: heads.length, violations: faults.map((message) => ({ message })) });
    },
  });
}
