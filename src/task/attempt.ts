import { defined } from '../base/defined.ts';
import type { Failure } from '../errors/failure.ts';
import type { CostTerms } from '../money/cost-terms.ts';
import type { RouteCandidate } from './candidates.ts';
import type { SaidOfFailure } from './task.ts';

/**
 * - `sending`: the request may have been sent. Only the process that sends it may report the outcome.
 * - `accepted`: the upstream has the job. Only `failed` can follow, unless an operator undoes an adoption.
 * - `failed`: the job failed, and the task continued on another channel. Final.
 * - `not_accepted`: the upstream did not accept the submission, which may be repeated.
 * - `rejected`: the upstream refused the request itself. Final.
 * - `lost`: the outcome is unknown. A job may exist and may be billed.
 * - `abandoned`: lost, and the task ended or continued without it. Final.
 */
export const attemptStates = [
  'sending', 'accepted', 'failed', 'not_accepted', 'rejected', 'lost', 'abandoned',
] as const; // prettier-ignore
export type AttemptState = (typeof attemptStates)[number];

/**
 * Only the adapter that created this value reads it. It is a small JSON object of at most 1 KB with the upstream's id,
 * and never contains a secret.
 */
export interface Operation {
  readonly id: string;
  readonly [key: string]: string;
}

export interface Attempt extends RouteCandidate, Partial<SaidOfFailure> {
  readonly n: number;
  readonly state: AttemptState;
  /**
   * Sent with the submission, so that the job can be found if the response is lost. Some upstreams do not accept such a
   * text.
   */
  readonly marker: string;
  /** Names the activity run that sends the submission. Only this run may record a refusal. */
  readonly owner: string;
  readonly terms?: CostTerms;
  readonly startedAt: number;
  readonly endedAt?: number;
  readonly operation?: Operation;
  /** Set if an operator identified the job. Only such a job can be removed from the task again. */
  readonly adopted?: true;
  /** A job that the upstream accepted after the task had moved on. An operator may have to cancel it there. */
  readonly stray?: Operation;
  readonly code?: string;
  readonly failure?: Failure;
  readonly past?: readonly PastAttempt[];
}

/**
 * An earlier outcome of an attempt that has since been retried, found, adopted or undone. `times` counts consecutive
 * identical outcomes.
 */
export interface PastAttempt extends Pick<Attempt, 'state' | 'startedAt' | 'adopted' | 'code'> {
  readonly endedAt: number;
  readonly upstreamId?: string;
  readonly times?: number;
  readonly lastAt?: number;
}

const pastMax = 20;

/** Returns the attempt's history, including the current outcome, which is about to be overwritten. */
export function pastOf(attempt: Attempt): readonly PastAttempt[] {
  const { past = [], state, startedAt, endedAt = startedAt, adopted, code, operation } = attempt;
  const upstreamId = operation?.id;
  const former = past.at(-1);
  if (former?.state === state && former.code === code && former.upstreamId === upstreamId) {
    return [...past.slice(0, -1), { ...former, times: (former.times ?? 1) + 1, lastAt: endedAt }];
  }
  const ended = { state, startedAt, endedAt, ...defined({ adopted, code, upstreamId }) };
  return [...past, ended].slice(-pastMax);
}

export function isUpstreamFailure({ state }: Pick<Attempt, 'state'>): boolean {
  return state === 'failed' || state === 'rejected';
}

export function mayHaveJob({ state }: Pick<Attempt, 'state'>): boolean {
  return state === 'lost' || state === 'abandoned';
}

/** Returns true even if the job of the lost submission was found later. */
export function wasLost(attempts: readonly Pick<Attempt, 'state' | 'past'>[]): boolean {
  return attempts.some((attempt) => mayHaveJob(attempt) || attempt.past?.some(mayHaveJob) === true);
}

/** An upstream's ids are unique only within one channel. */
export function jobKey(channel: string, upstreamId: string): string {
  return `${channel}/${upstreamId}`;
}
