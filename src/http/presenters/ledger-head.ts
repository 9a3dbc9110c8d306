import { z } from 'zod';
import type { AnchoredHead } from '../../ledger/anchored-heads.ts';
import { toSeconds, unixSeconds } from './unix-seconds.ts';

export const ledgerHeadSchema = z
  .object({
    object: z.literal('ledger.head'),
    id: z
      .string()
      .meta({ description: '`<account>/<seq>`: the entry that was the last one of its account.' }),
    account: z.string(),
    seq: z.int().min(0),
    hash: z.string().meta({ description: 'Of that entry, and so of all before it.' }),
    at: unixSeconds('When it was seen.'),
    signature: z.string().meta({ description: 'By the gateway; it covers all of the above.' }),
  })
  .meta({ id: 'LedgerHead' });

export function presentLedgerHead({
  account,
  seq,
  hash,
  at,
  signature,
}: AnchoredHead): z.output<typeof ledgerHeadSchema> {
  return {
    object: 'ledger.head',
    id: `${account}/${seq}`,
    account,
    seq: Number(seq),
    hash,
    at: toSeconds(at),
    signature,
  };
}
