import type { Micros } from '../money/money.ts';
import { referenceOf, type LedgerEntry } from './entry.ts';
import type { EntryKind } from '../money/movement.ts';
import { LedgerIntegrityError } from './ledger-errors.ts';
import type { Balance, Ledger } from './ledger.ts';

export interface Statement {
  readonly account: string;
  readonly period: Period;
  readonly opening: Balance;
  readonly closing: Balance;
  /** Each page is read only when it is consumed. This method can be called only once. */
  pages(): AsyncIterable<readonly StatementEntry[]>;
  sums(): readonly Sum[];
}

/** Unix milliseconds. `from` is inclusive, `before` exclusive. */
export interface Period {
  readonly from: number;
  readonly before: number;
}

export interface StatementEntry extends LedgerEntry {
  readonly change: Micros;
  readonly reference: string | undefined;
}

interface Sum {
  readonly kind: EntryKind;
  readonly entries: number;
  readonly amount: Micros;
}

const pageEntries = 200;

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
