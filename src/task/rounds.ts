import { isUpstreamFailure } from './attempt.ts';
import type { FailureClass } from '../errors/failure.ts';
import type { RouteCandidate } from './candidates.ts';
import type { Rest, Task } from './record.ts';
import { isSubmitting, sameCandidate, type Round, type StateOf, type TaskState } from './state.ts';
import type { Changes } from './transition.ts';

/**
 * These functions decide which channel to try next and when. They use only durations, because the clocks of different
 * processes must not be compared.
 */

/** The first pause. It doubles with each further round in which no channel accepted the task. */
const roundPauseMinMs = 5_000;
const roundPauseMaxMs = 300_000;

/**
 * When no channels are left in the round, the task pauses. If the round was to replace a failed job, the task fails
 * instead.
 */
export function afterCandidate(task: Task, asked: Round, at: number): TaskState {
  const round = queuedFor(asked);
  if (round.left.length > 0) return round;
  if (round.replaces === true) return { at: 'ending', ending: { kind: 'failed' } };
  return pauseAfter(task, round, at);
}

/** Pauses at least until one of the channels may be contacted again. */
function pauseAfter({ plan, resting }: Task, { round, full }: Round, at: number): TaskState {
  const usual = usualPauseMs(round);
  const soonest = Math.min(...plan.candidates.map((candidate) => restOf(resting, candidate) ?? usual));
  const ms = Number.isFinite(soonest) ? Math.max(usual, soonest) : usual;
  return { at: 'pausing', round, full, ms, until: at + ms };
}

function usualPauseMs(round: number): number {
  return Math.min(roundPauseMinMs * 2 ** Math.min(round - 1, 10), roundPauseMaxMs);
}

/**
 * Returns how long a task that waits for a full channel should let pass before it retries the channels that asked for a
 * pause. Infinity if there are none.
 */
export function restsOverInMs({ state, resting = [] }: Task, elapsedMs: number): number {
  const soonest = Math.min(...restedFor(resting, elapsedMs).map(({ ms }) => ms));
  return isSubmitting(state) ? Math.max(usualPauseMs(state.round), soonest) : soonest;
}

/** The new round includes channels that were full. It excludes channels that asked not to be contacted until later. */
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

/** Used if the upstream reports that it refused a submission that was already recorded as lost. */
export function roundAfterLoss(task: Task, at: number): Round {
  const { plan, attempts, resting } = task;
  const failed = attempts.findLast(isUpstreamFailure);
  if (failed === undefined) return newRound(task, withoutResting(plan.candidates, resting));
  // A replacement is tried once per channel, so skip channels that already have an attempt.
  const left = failed.failure === undefined ? [] : replacements(task, failed.failure.class, at);
  const isNew = (candidate: RouteCandidate): boolean =>
    !attempts.some((one) => sameCandidate(one, candidate));
  return newRound(task, left.filter(isNew));
}

/** A failed job can be replaced only on channels that have not been tried. */
export function openTo({ state, plan }: Pick<Task, 'state' | 'plan'>): readonly RouteCandidate[] {
  return isSubmitting(state) && state.replaces === true ? state.left : plan.candidates;
}

export function newRound(
  { attempts }: Pick<Task, 'attempts'>,
  left: readonly RouteCandidate[],
): StateOf<'queued'> {
  const replaces = attempts.some(isUpstreamFailure) ? ({ replaces: true } as const) : {};
  return { at: 'queued', round: 1, left, full: [], ...replaces };
}

export function queuedFor({ round, left, full, replaces }: Round): StateOf<'queued'> {
  return { at: 'queued', round, left, full, ...(replaces === undefined ? {} : { replaces }) };
}

/**
 * Returns where a task can continue after its job failed or was rejected. Channels on which the task already failed are
 * excluded. If the list is empty, the task must end.
 */
export function replacements(task: Task, of: FailureClass, at: number): readonly RouteCandidate[] {
  const { plan, attempts, deadlineAt, resting } = task;
  if (plan.fallback === undefined) return [];
  const { candidates, on, neededSeconds } = plan.fallback;
  if (!on.includes(of) || deadlineAt - at < neededSeconds * 1000) return [];
  const failed = attempts.filter(isUpstreamFailure).map(({ channel }) => channel);
  const untried = candidates.filter(({ channel }) => !failed.includes(channel));
  return withoutResting(untried, resting);
}

type Resting = Task['resting'];

export function withRest(resting: Resting = [], candidate: RouteCandidate, ms?: number): readonly Rest[] {
  if (ms === undefined) return resting;
  const { channel, credential } = candidate;
  return [...resting.filter((rest) => !sameCandidate(rest, candidate)), { channel, credential, ms }];
}

export function restedFor(resting: Resting = [], elapsedMs = 0): readonly Rest[] {
  return resting.filter(({ ms }) => ms > elapsedMs).map((rest) => ({ ...rest, ms: rest.ms - elapsedMs }));
}

function restOf(resting: Resting, candidate: RouteCandidate): number | undefined {
  return resting?.find((rest) => sameCandidate(rest, candidate))?.ms;
}

/** @param elapsedMs - The time since the task's current step or pause began. */
export function withoutResting(
  candidates: readonly RouteCandidate[],
  resting: Resting,
  elapsedMs = 0,
): readonly RouteCandidate[] {
  return candidates.filter((candidate) => (restOf(resting, candidate) ?? 0) <= elapsedMs);
}
