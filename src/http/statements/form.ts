import type { Statement, StatementEntry } from '../../ledger/statement.ts';

/** Writes a statement in one format. The functions are called in this order, `rows` once per page. */
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
  /** In the form `2026-11`. */
  readonly month: string;
}

/** Returns an operator's note on an entry: who made it, and why. Omits the gateway's own notes for its operators. */
export function reasonOf({ kind, note }: StatementEntry): string | undefined {
  return kind === 'credit' || kind === 'adjust' || kind === 'refund' ? note : undefined;
}
