import { isUpstreamFailure } from './attempt.ts';
import type { Attempt } from './attempt.ts';
import type { FailureClass } from './failure.ts';
import { rescueCandidates } from './rescue.ts';
import type { RouteCandidate } from './routing.ts';
import type { Task } from './task-record.ts';
import { sameCandidate } from './task-state.ts';
import type { Rest, StateOf, TaskState } from './task-state.ts';

/** Which channel is asked next, and when. Times in Unix milliseconds. */

type Submitting = StateOf<'submitting'>;

/** After a round in which no channel accepted; doubled with each round. */
const roundPauseMinMs = 5_000;
const roundPauseMaxMs = 300_000;

/** The next channel of the round; after the last one a pause, or the end of a task whose job nobody replaces. */
export function afterCandidate(task: Task, round: Submitting, at: number): TaskState {
  if (round.left.length > 0) return round;
  if (round.replaces === true) return { at: 'ending', ending: { kind: 'failed' } };
  return pauseAfter(task, round, at);
}

/** Until a channel may be asked again: none is asked before the time that it has named. */
function pauseAfter({ plan }: Task, { round, full, resting }: Submitting, at: number): TaskState {
  const usual = at + Math.min(roundPauseMinMs * 2 ** Math.min(round - 1, 10), roundPauseMaxMs);
  const soonest = Math.min(...plan.candidates.map((candidate) => restOf(resting, candidate) ?? usual));
  const until = Number.isFinite(soonest) ? Math.max(usual, soonest) : usual;
  return { at: 'pausing', round, full, resting, until };
}

/**
 * The round after a pause, whether the pause is over or an operator ends it: with whom it waited for, and without those
 * that have named a later time.
 */
export function roundAfterPause(task: Task, pause: StateOf<'pausing'>, at: number): TaskState {
  const due = Math.max(at, pause.until);
  const left = withoutResting(task.plan.candidates, pause.resting, due);
  const resting = pause.resting.filter(({ until }) => until > at);
  return afterCandidate(task, { at: 'submitting', round: pause.round + 1, left, full: [], resting }, at);
}

/** The round that a lost submission leaves behind when it turns out that it was refused. */
export function roundAfterLoss(task: Task, at: number): Submitting {
  const { plan, attempts } = task;
  const failed = attempts.findLast(isUpstreamFailure);
  if (failed === undefined) return newRound(task, withoutResting(plan.candidates, restingOf(attempts), at));
  // In place of a failed job each channel is asked once, and what was asked has its attempt.
  const left = failed.failure === undefined ? [] : replacements(task, failed.failure.class, at);
  const isNew = (candidate: RouteCandidate): boolean =>
    !attempts.some((one) => sameCandidate(one, candidate));
  return newRound(task, left.filter(isNew));
}

/** A first round with these channels. */
export function newRound({ attempts }: Pick<Task, 'attempts'>, left: readonly RouteCandidate[]): Submitting {
  const replaces = attempts.some(isUpstreamFailure) ? ({ replaces: true } as const) : {};
  return { at: 'submitting', round: 1, left, full: [], resting: restingOf(attempts), ...replaces };
}

/** Where a task goes whose job failed, or was rejected; empty: nowhere. */
export function replacements(task: Task, of: FailureClass, at: number): readonly RouteCandidate[] {
  const { plan, attempts, deadlineAt } = task;
  if (plan.fallback === undefined) return [];
  const channels = attempts.filter(isUpstreamFailure).map(({ channel }) => channel);
  const candidates = rescueCandidates(plan.fallback, { class: of, channels, remainingMs: deadlineAt - at });
  return withoutResting(candidates, restingOf(attempts), at);
}

/** With the time that the candidate has named, in place of one that it named before. */
export function withRest(
  resting: readonly Rest[],
  candidate: RouteCandidate,
  until?: number,
): readonly Rest[] {
  if (until === undefined) return resting;
  const { channel, credential } = candidate;
  return [...resting.filter((rest) => !sameCandidate(rest, candidate)), { channel, credential, until }];
}

function restOf(resting: readonly Rest[], candidate: RouteCandidate): number | undefined {
  return resting.find((rest) => sameCandidate(rest, candidate))?.until;
}

function withoutResting(
  candidates: readonly RouteCandidate[],
  resting: readonly Rest[],
  at: number,
): readonly RouteCandidate[] {
  return candidates.filter((candidate) => (restOf(resting, candidate) ?? 0) <= at);
}

function restingOf(attempts: readonly Attempt[]): readonly Rest[] {
  return attempts.reduce<readonly Rest[]>((resting, one) => withRest(resting, one, one.retryAt), []);
}
