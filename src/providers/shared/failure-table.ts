import { defined } from '../../base/defined.ts';
import type { Failure, FailureClass, ModeratedInput } from '../../errors/failure.ts';
import type { UpstreamOutcome } from '../provider.ts';

/** The upstream's own error, to the extent that its body was readable. */
export interface Refusal {
  readonly code: string;
  readonly message: string;
  /** The field at fault, if the upstream reports it. */
  readonly field?: string;
  /** The wait requested by the body. A header takes precedence. */
  readonly retryAfterMs?: number;
}

/** One row per family of vendor codes. A row matches if its code, words and status match, if specified. */
export interface FailureRow {
  readonly code?: RegExp;
  /** Matches the vendor's message, for vendors whose codes have several meanings. */
  readonly words?: RegExp;
  readonly status?: number;
  /** The outcome that this code implies for a refusal. If absent, the status decides. */
  readonly outcome?: UpstreamOutcome;
  readonly class: FailureClass;
  readonly input?: ModeratedInput;
}

/** A vendor's error table. The first matching row applies. */
export type FailureTable = readonly FailureRow[];

export function findFailureRow(
  table: FailureTable,
  { code, message }: Refusal,
  status?: number,
): FailureRow | undefined {
  return table.find(
    (row) =>
      (row.code === undefined || row.code.test(code)) &&
      (row.words === undefined || row.words.test(message)) &&
      (row.status === undefined || row.status === status),
  );
}

export function failureOfRow(row: Pick<FailureRow, 'class' | 'input'>, { field }: Refusal): Failure {
  return defined({
    class: row.class,
    field: row.class === 'invalid_input' ? field : undefined,
    input: row.class === 'moderation_input' ? row.input : undefined,
  });
}

/**
 * Returns the upstream's words with a code that is safe for logs and histories because the vendor's table lists it. Any
 * other code may be the caller's own text, so it is replaced by `instead` and moved into the message.
 */
export function knownWords(
  table: FailureTable,
  { code, message }: Pick<Refusal, 'code' | 'message'>,
  instead: string,
): Pick<Refusal, 'code' | 'message'> {
  if (code === '') return { code: instead, message };
  return table.some((row) => row.code?.test(code) === true)
    ? { code, message }
    : { code: instead, message: `${code}: ${message}` };
}

/** Returns why a job failed. A failure without a matching row counts as internal to the vendor. */
export function jobFailure(table: FailureTable, refusal: Refusal): Failure {
  const row = findFailureRow(table, refusal);
  return row === undefined ? { class: 'internal' } : failureOfRow(row, refusal);
}
