import { defined } from '../../base/defined.ts';
import type { Cost } from '../../money/cost.ts';
import type { Failure, FailureClass, ModeratedInput } from '../../errors/failure.ts';
import type { UpstreamOutcome } from '../provider.ts';

export interface Refusal {
  readonly code: string;
  readonly message: string;
  readonly field?: string;
  /** The delay that the response body asks for. A Retry-After header overrides it. */
  readonly retryAfterMs?: number;
  readonly cost?: Cost;
}

/** A row covers a group of vendor codes. Every pattern and status in it must match. */
export interface FailureRow {
  readonly code?: RegExp;
  readonly words?: RegExp;
  readonly status?: number;
  /** What a rejection with this code says about the job. If undefined, the HTTP status decides. */
  readonly outcome?: UpstreamOutcome;
  /** Set if the vendor sends this code even with a 5xx, although it then has not accepted the request. */
  readonly certain?: true;
  readonly class: FailureClass;
  readonly input?: ModeratedInput;
}

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
 * Keeps only codes from the vendor's table. Any other code may contain the caller's own text, which must not reach logs
 * and histories. Such a code becomes part of the message, and `instead` takes its place.
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

/** Without a matching row, the vendor is assumed to be at fault. */
export function jobFailure(table: FailureTable, refusal: Refusal): Failure {
  const row = findFailureRow(table, refusal);
  return row === undefined ? { class: 'internal' } : failureOfRow(row, refusal);
}
