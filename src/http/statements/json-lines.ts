import { formatMicros } from '../../money/money.ts';
import { movementOf } from '../../money/movement.ts';
import type { Statement, StatementEntry } from '../../ledger/statement.ts';
import type { Balance } from '../../ledger/ledger.ts';
import { toSeconds } from '../presenters/unix-seconds.ts';
import { reasonOf, type StatementForm } from './form.ts';

export const jsonLines: StatementForm = {
  mediaType: 'application/x-ndjson',
  headers: {},
  open: ({ account, name, currency, month, period, opening }) =>
    line({
      object: 'statement',
      account,
      name,
      currency,
      month,
      from: toSeconds(period.from),
      before: toSeconds(period.before),
      opening: balance(opening),
    }),
  rows: (page) => page.map((entry) => line(entryFields(entry))).join(''),
  close: (statement) =>
    line({ object: 'statement.end', closing: balance(statement.closing), sums: sumFields(statement) }),
};

function line(fields: object): string {
  return `${JSON.stringify(fields)}\n`;
}

function balance({ available, held, seq }: Balance): object {
  return { available: formatMicros(available), held: formatMicros(held), seq: Number(seq) };
}

function entryFields(entry: StatementEntry): object {
  return {
    object: 'statement.entry',
    seq: Number(entry.seq),
    at: toSeconds(entry.at),
    kind: entry.kind,
    task: entry.task ?? null,
    amount: formatMicros(movementOf(entry)),
    change: formatMicros(entry.change),
    available: formatMicros(entry.available),
    held: formatMicros(entry.held),
    reference: entry.reference ?? null,
    reason: reasonOf(entry) ?? null,
  };
}

function sumFields(statement: Statement): Record<string, object> {
  const sums = statement.sums();
  return Object.fromEntries(
    sums.map((sum) => [sum.kind, { entries: sum.entries, amount: formatMicros(movementOf(sum)) }]),
  );
}
