import { defined } from '../base/defined.ts';
import type { Failure } from '../errors/failure.ts';
import type { CostTerms } from '../money/cost-terms.ts';
import type { RouteCandidate } from './candidates.ts';
import type { SaidOfFailure } from './task.ts';

/**
 * - `sending`: the request may have been sent. Only its owner may report the outcome.
 * - `accepted`: the upstream has the job. The only next state is `failed`, unless an operator undoes an adoption.
 * - `failed`: the upstream had the job and it failed. The task continues elsewhere. Final.
 * - `not_accepted`: definitely not accepted. The same submission may be repeated.
 * - `rejected`: the upstream refused the request itself. Final.
 * - `lost`: the outcome is unknown. The job may exist and may be billed.
 * - `abandoned`: lost, and the task continued without it or ended. Final.
 */
export const attemptStates = [
  'sending', 'accepted', 'failed', 'not_accepted', 'rejected', 'lost', 'abandoned',
] as const; // prettier-ignore
export type AttemptState = (typeof attemptStates)[number];

/**
 * An opaque value that only its adapter reads: a small JSON object with the upstream's id. At most 1 KB, and never a
 * secret.
 */
export interface Operation {
  readonly id: string;
  readonly [key: string]: string;
}

export interface Attempt extends RouteCandidate, Partial<SaidOfFailure> {
  readonly n: number;
  readonly state: AttemptState;
  /** A text in the submission by which the upstream job can be found, if the upstream accepts such texts. */
  readonly marker: string;
  /** The activity run that sends the submission. Only this run may record a refusal. */
  readonly owner: string;
  readonly terms?: CostTerms;
  readonly startedAt: number;
  readonly endedAt?: number;
  readonly operation?: Operation;
  /** Set if an operator identified the job. Only an adoption can be undone. */
  readonly adopted?: true;
  /** A job that was accepted after the task had continued without it. An operator may have to cancel it upstream. */
  readonly stray?: Operation;
  readonly code?: string;
  readonly failure?: Failure;
  readonly past?: readonly PastAttempt[];
}

/**
 * A previous outcome of an attempt that was then retried, found, adopted or undone. `times` counts consecutive
 * identical outcomes.
 */
export interface PastAttempt extends Pick<Attempt, 'state' | 'startedAt' | 'adopted' | 'code'> {
  readonly endedAt: number;
  readonly upstreamId?: string;
  readonly times?: number;
  readonly lastAt?: number;
}

const pastMax = 20;

/** Returns an ended attempt's history, including its current outcome, which is about to be overwritten. */
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

/** Whether the upstream itself reported that it will not deliver a result. */
export function isUpstreamFailure({ state }: Pick<Attempt, 'state'>): boolean {
  return state === 'failed' || state === 'rejected';
}

/** Whether the upstream may have a job for this attempt whose id we do not know. */
export function mayHaveJob({ state }: Pick<Attempt, 'state'>): boolean {
  return state === 'lost' || state === 'abandoned';
}

/** Whether a submission of the task was ever lost, even if its job was found later. */
export function wasLost(attempts: readonly Pick<Attempt, 'state' | 'past'>[]): boolean {
  return attempts.some((attempt) => mayHaveJob(attempt) || attempt.past?.some(mayHaveJob) === true);
}

/** Returns a globally unique key, because an upstream's id is unique only within its channel. */
export function jobKey(channel: string, upstreamId: string): string {
  return `${channel}/${upstreamId}`;
}
