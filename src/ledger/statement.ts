import type { Micros } from '../money/money.ts';
import { referenceOf } from './entry.ts';
import type { EntryKind } from '../money/movement.ts';
import type { LedgerEntry } from './entry.ts';
import { LedgerIntegrityError } from './ledger-errors.ts';
import type { Balance, Ledger } from './ledger.ts';

/** What happened to an account's money in a period. */
export interface Statement {
  readonly account: string;
  readonly period: Period;
  /** Before the first entry of the period, and after the last one. */
  readonly opening: Balance;
  readonly closing: Balance;
  /** Every entry of the period in order, a page at a time: the next one is read when it is asked for. To be called once. */
  pages(): AsyncIterable<readonly StatementEntry[]>;
  /** Of the pages so far, by kind. */
  sums(): readonly Sum[];
}

/** Unix milliseconds; `before` itself is not part of it. */
export interface Period {
  readonly from: number;
  readonly before: number;
}

export interface StatementEntry extends LedgerEntry {
  /** By how much `available` differs from what it was before. */
  readonly change: Micros;
  /** How its payer named a credit or a correction. */
  readonly reference: string | undefined;
}

interface Sum {
  readonly kind: EntryKind;
  readonly entries: number;
  readonly amount: Micros;
}

/** A basis may have 64 KiB. */
const pageEntries = 200;

/** As the ledger is now: what is written later is not in it. Throws as the ledger does. */
export async function openStatement(
  ledger: Pick<Ledger, 'balanceBefore' | 'entries'>,
  account: string,
  period: Period,
): Promise<Statement> {
  const opening = await ledger.balanceBefore(account, period.from);
  const closing = await ledger.balanceBefore(account, period.before);
  const sums = new Map<EntryKind, Sum>();

  async function* pages(): AsyncIterable<readonly StatementEntry[]> {
    let last: Pick<Balance, 'seq' | 'available'> = opening;
    while (last.seq < closing.seq) {
      const left = Number(closing.seq - last.seq);
      const page = await ledger.entries(account, { after: last.seq, limit: Math.min(left, pageEntries) });
      const changed: StatementEntry[] = [];
      for (const entry of page) {
        const change = entry.available - last.available;
        changed.push({ ...entry, change, reference: referenceOf(entry) });
        addTo(sums, entry);
        last = entry;
      }
      if (changed.length === 0) throw new LedgerIntegrityError(`account ${account}: an entry is missing`);
      yield changed;
    }
  }

  const inOrder = (): Sum[] => [...sums.values()].toSorted((a, b) => (a.kind < b.kind ? -1 : 1));
  return { account, period, opening, closing, pages, sums: inOrder };
}

function addTo(sums: Map<EntryKind, Sum>, { kind, amount }: LedgerEntry): void {
  const { entries, amount: sum } = sums.get(kind) ?? { entries: 0, amount: 0n };
  sums.set(kind, { kind, entries: entries + 1, amount: sum + amount });
}
