import { findEntries, type LedgerCollection } from './collection.ts';
import { LedgerIntegrityError } from './ledger-errors.ts';
import type { Balance } from './ledger.ts';

const probesMax = 16n;

const nothing: Balance = { available: 0n, held: 0n, seq: 0n };

export interface Moment {
  readonly account: string;
  readonly last: bigint;
  readonly time: number;
}

/**
 * Searches by `_id`. This works because an account's entries are numbered without gaps and their times never decrease.
 */
export async function findBalanceBefore(
  collection: LedgerCollection,
  { account, last, time }: Moment,
): Promise<Balance> {
  let before = nothing;
  let notBefore = last + 1n;
  while (notBefore - before.seq > 1n) {
    const seqs = probes(before.seq, notBefore);
    const entries = await findEntries(collection, account, seqs);
    if (entries.length < seqs.length)
      throw new LedgerIntegrityError(`account ${account}: an entry is missing`);
    const later = entries.findIndex(({ at }) => at >= time);
    const { available, held, seq } = entries.at(later < 0 ? -1 : later - 1) ?? before;
    if (later !== 0) before = { available, held, seq };
    notBefore = entries[later]?.seq ?? notBefore;
  }
  return before;
}

function probes(from: bigint, before: bigint): bigint[] {
  const between = before - from - 1n;
  const count = between < probesMax ? between : probesMax;
  return Array.from(
    { length: Number(count) },
    (_, n) => from + ((BigInt(n) + 1n) * (between + 1n)) / (count + 1n),
  );
}
