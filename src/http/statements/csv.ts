import type { Balance } from '../../ledger/ledger.ts';
import type { StatementEntry } from '../../ledger/statement.ts';
import { movementOf } from '../../money/movement.ts';
import { csvLine, csvMediaType } from '../../money/csv.ts';
import { reasonOf, type StatementForm } from './form.ts';
import { isoSeconds } from '../../base/times.ts';

const columns = [
  'at',
  'seq',
  'kind',
  'task',
  'amount',
  'change',
  'available',
  'held',
  'reference',
  'reason',
] as const;

export const csv: StatementForm = {
  mediaType: csvMediaType,
  headers: {},
  open: ({ period, opening }) => csvLine(columns) + balanceLine('opening', period.from, opening),
  rows: (page) => page.map(entryLine).join(''),
  close: ({ period, closing }) => balanceLine('closing', period.before, closing),
};

function entryLine(entry: StatementEntry): string {
  const { at, seq, kind, task, change, available, held } = entry;
  const amount = movementOf(entry);
  const words = [entry.reference, reasonOf(entry)];
  return csvLine([isoSeconds(at), Number(seq), kind, task, amount, change, available, held, ...words]);
}

function balanceLine(kind: string, at: number, { available, held }: Balance): string {
  const [none, noAmount] = [undefined, [undefined, undefined]];
  return csvLine([isoSeconds(at), none, kind, none, ...noAmount, available, held, none, none]);
}
