import { isUpstreamFailure } from './attempt.ts';
import type { FailureClass } from '../errors/failure.ts';
import { rescueCandidates } from './rescue.ts';
import type { RouteCandidate } from './candidates.ts';
import type { Rest, Task } from './record.ts';
import { isSubmitting, sameCandidate } from './state.ts';
import type { Round, StateOf, TaskState } from './state.ts';
import type { Changes } from './transition.ts';

/**
 * Which channel is asked next, and after how long. Durations, since the clocks of two processes are never compared.
 */

/** After a round in which no channel accepted; doubled with each round. */
const roundPauseMinMs = 5_000;
const roundPauseMaxMs = 300_000;

/** The next channel of the round; after the last one a pause, or the end of a task whose job nobody replaces. */
export function afterCandidate(task: Task, asked: Round, at: number): TaskState {
  const round = queuedFor(asked);
  if (round.left.length > 0) return round;
  if (round.replaces === true) return { at: 'ending', ending: { kind: 'failed' } };
  return pauseAfter(task, round, at);
}

/** Until a channel may be asked again: none is asked before the time that it has named. */
function pauseAfter({ plan, resting }: Task, { round, full }: Round, at: number): TaskState {
  const usual = usualPauseMs(round);
  const soonest = Math.min(...plan.candidates.map((candidate) => restOf(resting, candidate) ?? usual));
  const ms = Number.isFinite(soonest) ? Math.max(usual, soonest) : usual;
  return { at: 'pausing', round, full, ms, until: at + ms };
}

function usualPauseMs(round: number): number {
  return Math.min(roundPauseMinMs * 2 ** Math.min(round - 1, 10), roundPauseMaxMs);
}

/** When a task that waits before a full channel looks at those again that rest; Infinity: none does. */
export function restsOverInMs({ state, resting = [] }: Task, elapsedMs: number): number {
  const soonest = Math.min(...restedFor(resting, elapsedMs).map(({ ms }) => ms));
  return isSubmitting(state) ? Math.max(usualPauseMs(state.round), soonest) : soonest;
}

/**
 * The round after a pause, whether the pause is over or an operator ends it: with whom it waited for, and without those
 * that have named a later time.
 */
export function roundAfterPause(
  task: Task,
  pause: StateOf<'pausing'>,
  { elapsedMs, at }: { readonly elapsedMs: number; readonly at: number },
): Pick<Changes, 'state' | 'resting'> {
  const left = withoutResting(task.plan.candidates, task.resting, Math.max(elapsedMs, pause.ms));
  const resting = restedFor(task.resting, elapsedMs);
  const round = { round: pause.round + 1, left, full: [] };
  return { resting, state: afterCandidate({ ...task, resting }, round, at) };
}

/** The round that a lost submission leaves behind when it turns out that it was refused. */
export function roundAfterLoss(task: Task, at: number): Round {
  const { plan, attempts, resting } = task;
  const failed = attempts.findLast(isUpstreamFailure);
  if (failed === undefined) return newRound(task, withoutResting(plan.candidates, resting));
  // In place of a failed job each channel is asked once, and what was asked has its attempt.
  const left = failed.failure === undefined ? [] : replacements(task, failed.failure.class, at);
  const isNew = (candidate: RouteCandidate): boolean =>
    !attempts.some((one) => sameCandidate(one, candidate));
  return newRound(task, left.filter(isNew));
}

/** Where the task may still go: in place of a job that failed, only to those that were not asked yet. */
export function openTo({ state, plan }: Pick<Task, 'state' | 'plan'>): readonly RouteCandidate[] {
  return isSubmitting(state) && state.replaces === true ? state.left : plan.candidates;
}

/** A first round with these channels. */
export function newRound(
  { attempts }: Pick<Task, 'attempts'>,
  left: readonly RouteCandidate[],
): StateOf<'queued'> {
  const replaces = attempts.some(isUpstreamFailure) ? ({ replaces: true } as const) : {};
  return { at: 'queued', round: 1, left, full: [], ...replaces };
}

/** The round, and nothing else of the state that had it. */
export function queuedFor({ round, left, full, replaces }: Round): StateOf<'queued'> {
  return { at: 'queued', round, left, full, ...(replaces === undefined ? {} : { replaces }) };
}

/** Where a task goes whose job failed, or was rejected; empty: nowhere. */
export function replacements(task: Task, of: FailureClass, at: number): readonly RouteCandidate[] {
  const { plan, attempts, deadlineAt, resting } = task;
  if (plan.fallback === undefined) return [];
  const channels = attempts.filter(isUpstreamFailure).map(({ channel }) => channel);
  const candidates = rescueCandidates(plan.fallback, { class: of, channels, remainingMs: deadlineAt - at });
  return withoutResting(candidates, resting);
}

type Resting = Task['resting'];

/** With the time that the candidate has named, in place of one that it named before. */
export function withRest(resting: Resting = [], candidate: RouteCandidate, ms?: number): readonly Rest[] {
  if (ms === undefined) return resting;
  const { channel, credential } = candidate;
  return [...resting.filter((rest) => !sameCandidate(rest, candidate)), { channel, credential, ms }];
}

/** What is left of the rests. */
export function restedFor(resting: Resting = [], elapsedMs = 0): readonly Rest[] {
  return resting.filter(({ ms }) => ms > elapsedMs).map((rest) => ({ ...rest, ms: rest.ms - elapsedMs }));
}

function restOf(resting: Resting, candidate: RouteCandidate): number | undefined {
  return resting?.find((rest) => sameCandidate(rest, candidate))?.ms;
}

/** Those that may be asked, so long after the work began that the rests are counted from. */
export function withoutResting(
  candidates: readonly RouteCandidate[],
  resting: Resting,
  elapsedMs = 0,
): readonly RouteCandidate[] {
  return candidates.filter((candidate) => (restOf(resting, candidate) ?? 0) <= elapsedMs);
}
