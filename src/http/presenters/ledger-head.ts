import { z } from 'zod';
import type { AnchoredHead } from '../../ledger/anchored-heads.ts';
import { toSeconds, unixSeconds } from './unix-seconds.ts';

export const ledgerHeadSchema = z
  .object({
    object: z.literal('ledger.head'),
    id: z.string().meta({
      description: '`<account>/<seq>`: the account’s last entry at that time.',
    }),
    account: z.string(),
    seq: z.int().min(0),
    hash: z
      .string()
      .meta({ description: 'The hash of the account’s last entry, which covers all entries before it.' }),
    at: unixSeconds('When this was the account’s last entry.'),
    signature: z.string().meta({ description: 'The gateway’s signature over all other fields.' }),
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
