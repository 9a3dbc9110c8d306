import type { Statement, StatementEntry } from '../../ledger/statement.ts';

/** How a statement is written, in the order of the functions: the rows page by page. */
export interface StatementForm {
  readonly mediaType: string;
  readonly headers: Readonly<Record<string, string>>;
  open(statement: TitledStatement): string;
  rows(page: readonly StatementEntry[]): string;
  /** When all pages were read. */
  close(statement: TitledStatement): string;
}

export interface TitledStatement extends Statement {
  /** Of the account, as operators have named it; may be empty. */
  readonly name: string;
  readonly currency: string;
  /** `2026-11` */
  readonly month: string;
}

/** What a person has written about an entry: who did it, and why. What the gateway notes for its operators is not. */
export function reasonOf({ kind, note }: StatementEntry): string | undefined {
  return kind === 'credit' || kind === 'adjust' || kind === 'refund' ? note : undefined;
}
