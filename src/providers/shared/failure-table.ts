import { defined } from '../../base/defined.ts';
import type { Failure, FailureClass, ModeratedInput } from '../../errors/failure.ts';
import type { UpstreamOutcome } from '../provider.ts';

/** The upstream's own error, as far as its body could be read. */
export interface Refusal {
  readonly code: string;
  readonly message: string;
  /** The field at fault, where the upstream names it. */
  readonly field?: string;
  /** How long to wait, where the body says so; a header comes first. */
  readonly retryAfterMs?: number;
}

/** One row for each family of a vendor's codes. A row holds if everything that it names fits. */
export interface FailureRow {
  readonly code?: RegExp;
  /** The vendor's message: for vendors that use one code for several things. */
  readonly words?: RegExp;
  readonly status?: number;
  /** What a refusal with this code says about acceptance; absent: its status decides. */
  readonly outcome?: UpstreamOutcome;
  readonly class: FailureClass;
  readonly input?: ModeratedInput;
}

/** A vendor's error table; the first row that holds counts. */
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
 * What an upstream said, with a code that is fit for logs and histories: one that its table names. Any other may be the
 * caller's own text: it goes in front of the words, and `instead` takes its place.
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

/** What a job that ended in failure failed of; a reason that no row knows is the vendor's own. */
export function jobFailure(table: FailureTable, refusal: Refusal): Failure {
  const row = findFailureRow(table, refusal);
  return row === undefined ? { class: 'internal' } : failureOfRow(row, refusal);
}
