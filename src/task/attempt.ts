import { defined } from '../base/defined.ts';
import type { Failure } from '../errors/failure.ts';
import type { CostTerms } from '../money/cost-terms.ts';
import type { RouteCandidate } from './candidates.ts';
import type { SaidOfFailure } from './task.ts';

/**
 * - `sending`: the request may have left; only its owner may say what became of it.
 * - `accepted`: the upstream has the job. Left only for `failed`, or by an operator who takes an adoption back.
 * - `failed`: the upstream had the job and has failed it, and the task continues elsewhere. Final.
 * - `not_accepted`: certainly not: the same submission may be repeated.
 * - `rejected`: the upstream refused the request itself. Final.
 * - `lost`: the answer does not say. The job may exist, and may be billed.
 * - `abandoned`: lost, and the task continued without it, or ended. Final.
 */
export const attemptStates = [
  'sending', 'accepted', 'failed', 'not_accepted', 'rejected', 'lost', 'abandoned',
] as const; // prettier-ignore
export type AttemptState = (typeof attemptStates)[number];

/** Opaque to everything but its adapter: a small JSON object (at most 1 KB, no secret), with the upstream's id. */
export interface Operation {
  readonly id: string;
  readonly [key: string]: string;
}

/** One submission to an upstream, as the task's record holds it. Times in Unix milliseconds. */
export interface Attempt extends RouteCandidate, Partial<SaidOfFailure> {
  /** From 1, in the order in which they were begun. */
  readonly n: number;
  readonly state: AttemptState;
  /** What the upstream's job is marked with, where an upstream can be given a mark. */
  readonly marker: string;
  /** The run of the activity that sends: only this run may write down a refusal. */
  readonly owner: string;
  /** What its upstream bills, as configured when it was begun. */
  readonly terms?: CostTerms;
  readonly startedAt: number;
  readonly endedAt?: number;
  readonly operation?: Operation;
  /** An operator named the job: only such an acceptance can be taken back. */
  readonly adopted?: true;
  /** A job that was accepted after the task had continued without it: an operator may have to cancel it there. */
  readonly stray?: Operation;
  readonly code?: string;
  /** What the upstream's refusal or failure was. */
  readonly failure?: Failure;
  /** How it stood before, oldest first: what became of it later takes nothing of its story away. */
  readonly past?: readonly PastAttempt[];
}

/** An end that was not the last one: begun again, found, adopted, taken back. `times`: so often, one after the other. */
export interface PastAttempt extends Pick<Attempt, 'state' | 'startedAt' | 'adopted' | 'code'> {
  readonly endedAt: number;
  readonly upstreamId?: string;
  readonly times?: number;
  /** Of those that were alike: when the last one ended. */
  readonly lastAt?: number;
}

const pastMax = 20;

/** The story of an attempt that had ended and is about to stand otherwise. */
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

/** The upstream itself has said that there will be no result. */
export function isUpstreamFailure({ state }: Pick<Attempt, 'state'>): boolean {
  return state === 'failed' || state === 'rejected';
}

/** The upstream may have a job of it that is not known here. */
export function mayHaveJob({ state }: Pick<Attempt, 'state'>): boolean {
  return state === 'lost' || state === 'abandoned';
}

/** Whether a submission of the task was ever lost, whatever became of it later. */
export function wasLost({
  attempts,
}: {
  readonly attempts: readonly Pick<Attempt, 'state' | 'past'>[];
}): boolean {
  return attempts.some((attempt) => mayHaveJob(attempt) || attempt.past?.some(mayHaveJob) === true);
}

/** The id of an upstream is unique within its channel only. */
export function jobKey(channel: string, upstreamId: string): string {
  return `${channel}/${upstreamId}`;
}
