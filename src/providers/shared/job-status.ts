import type { Cost } from '../../money/cost.ts';
import { defined } from '../../base/defined.ts';
import { isModeration, type Failure } from '../../errors/failure.ts';
import type { SettleFacts, Usage } from '../../money/settle-facts.ts';
import { UpstreamError, type OperationStatus } from '../provider.ts';
import { jobFailure, knownWords, type FailureTable } from './failure-table.ts';

type FailedStatus = Extract<OperationStatus, { state: 'failed' }>;

interface JobFacts {
  readonly cost?: Cost | undefined;
  readonly unbilled?: boolean | undefined;
  readonly withheld?: readonly string[] | undefined;
  readonly traceId?: string | undefined;
}

interface SaidReason {
  readonly code?: string | undefined;
  readonly message?: string | undefined;
  readonly field?: string | undefined;
}

export const noReason = 'The upstream gave no reason.';
export const failedCode = 'failed';

export function failedJob(table: FailureTable, said: SaidReason, facts: JobFacts = {}): FailedStatus {
  const { code = failedCode, message = noReason, field } = said;
  const failure = jobFailure(table, defined({ code, message, field }));
  const words = code === failedCode ? { code, message } : knownWords(table, { code, message }, failedCode);
  return endedJob({ ...words, failure }, facts);
}

interface Reason {
  readonly code: string;
  readonly message: string;
  readonly failure: Failure;
}

export function endedJob(reason: Reason, { unbilled, ...facts }: JobFacts = {}): FailedStatus {
  return defined({
    state: 'failed' as const,
    ...reason,
    ...facts,
    unbilled: unbilled === true ? unbilled : undefined,
  });
}

export function cancelledJob(facts: JobFacts = {}): FailedStatus {
  const message = 'The job was cancelled at the upstream.';
  return endedJob({ code: 'upstream_cancelled', message, failure: { class: 'cancelled' } }, facts);
}

export function expiredJob(facts: JobFacts = {}): FailedStatus {
  const message = 'The upstream abandoned the job.';
  return endedJob({ code: 'upstream_expired', message, failure: { class: 'expired' } }, facts);
}

/**
 * A query contains no content. If an upstream responds to one by rejecting content, it means the job's content, so the
 * job has ended. A 401 or 403 is about the key, whatever its message says.
 */
export function endedByRefusal(error: unknown): FailedStatus | undefined {
  if (!(error instanceof UpstreamError) || error.gone || error.outcome !== 'rejected') return undefined;
  const { status, failure, code, words: message, cost } = error;
  if (!isModeration(failure.class) || status === 401 || status === 403) return undefined;
  return endedJob({ code, message, failure }, { cost });
}

export function tokenUsage(
  completionTokens: number | undefined,
  totalTokens: number | undefined,
  others: { readonly [Name in keyof Usage]?: number | undefined } = {},
): SettleFacts['usage'] {
  const usage = defined({ completionTokens, totalTokens, ...others });
  return Object.keys(usage).length === 0 ? undefined : usage;
}

/**
 * Converts Unix seconds to milliseconds. Adds half a second, because the middle of the second is closest on average.
 */
export function middleOfSecond(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : Math.floor(seconds) * 1000 + 500;
}
