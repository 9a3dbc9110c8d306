import type { Statement, StatementEntry } from '../../ledger/statement.ts';

/** The functions are called in this order, with `rows` once per page. */
export interface StatementForm {
  readonly mediaType: string;
  readonly headers: Readonly<Record<string, string>>;
  open(statement: TitledStatement): string;
  rows(page: readonly StatementEntry[]): string;
  close(statement: TitledStatement): string;
}

export interface TitledStatement extends Statement {
  readonly name: string;
  readonly currency: string;
  readonly month: string;
}

export function reasonOf({ kind, note }: StatementEntry): string | undefined {
  return kind === 'credit' || kind === 'adjust' || kind === 'refund' ? note : undefined;
}
