import { defined } from '../base/defined.ts';
import type { Task } from './record.ts';
import { taskFailures } from './failures.ts';
import { attemptAt, isSubmitting, stopOf } from './state.ts';
import type { Ending, EventOf, StateOf, Stop, TaskState } from './state.ts';
import type { TaskError } from './task.ts';
import { change, notNow, refuse, unchanged, withoutLost } from './transition.ts';
import type { In, Next } from './transition.ts';

/** What ends a task: what is wanted of it, the loss of its workflow, and the ledger's last word. */

/**
 * What the task then fails of, and why it is to end, as the rest of a sentence. What is wanted later replaces only what has
 * less `force`: a deadline does not take an operator's word back.
 */
const stops = {
  cancel: { force: 0, error: taskFailures.cancelled, why: 'it is being cancelled' },
  expire: { force: 1, error: taskFailures.expired, why: 'its deadline has passed (`extend` moves it)' },
  fail: { force: 2, error: taskFailures.operator, why: 'an operator has failed it' },
} as const satisfies Record<Stop, object>;

/**
 * The end that the stop brings, once the job has certainly stopped or never existed. A task whose job failed, and which
 * found no other one in time, has failed as its job did.
 */
export function endedBy({ state }: Task, stop: Stop): { readonly state: TaskState } {
  const hasFailed = stop === 'expire' && isSubmitting(state) && state.replaces === true;
  const ending: Ending = hasFailed ? { kind: 'failed' } : { kind: 'failed', error: stops[stop].error };
  return { state: { at: 'ending', ending } };
}

/** For who would send something for a task that is to end. */
export function submitsNothing(stop: Stop): Next {
  return refuse('not_now', `The task submits nothing any more: ${stops[stop].why}.`);
}

/** Refuses a deadline that was moved meanwhile; undefined: the stop counts. */
export function passedBefore(task: Task, { deadlineAt }: EventOf<'wanted'>): Next | undefined {
  return deadlineAt !== undefined && deadlineAt < task.deadlineAt
    ? refuse('not_now', 'The deadline has been moved.')
    : undefined;
}

/** What has no job ends at once. */
export function wantedIdle(task: Task, { stop }: EventOf<'wanted'>): Next {
  return change(endedBy(task, stop));
}

/** The answer that is under way is heard first. */
export function wantedSending(task: In<'sending'>, { stop }: EventOf<'wanted'>): Next {
  return weaker(stop, task.state.stop) ?? change({ state: { ...task.state, stop } });
}

export function wantedLost(task: In<'searching' | 'asking'>, { stop }: EventOf<'wanted'>): Next {
  if (stop === 'cancel') return notNow(task, stop);
  if (stop === 'fail') return change({ attempts: withoutLost(task), ...endedBy(task, stop) });
  const { n, code, taken } = task.state;
  return (
    weaker(stop, stopOf(task.state)) ??
    change({ state: { at: 'searching', n, code, ...defined({ taken }), stop } })
  );
}

/** The upstream is asked to end its job. */
export function wantedJob(
  { state }: In<'waiting' | 'stopping' | 'broken'>,
  { stop }: EventOf<'wanted'>,
): Next {
  const code = state.at === 'waiting' ? undefined : state.code;
  return (
    weaker(stop, stopOf(state)) ??
    change({ state: { at: 'stopping', n: state.n, stop, ...defined({ code }) } })
  );
}

/** Returns the result if the earlier stop is at least as strong, or undefined if this one is stronger. */
function weaker(stop: Stop, before: Stop | undefined): Next | undefined {
  if (before === undefined || stops[stop].force > stops[before].force) return undefined;
  return stop === 'cancel' && before !== stop
    ? refuse('not_now', `The task is about to end: ${stops[before].why}.`)
    : unchanged;
}

/** The deadline fails what has succeeded; where even a failure contradicts the ledger, only a person can let it stand. */
export function wantedInReview(task: In<'review'>, { stop }: EventOf<'wanted'>): Next {
  if (stop === 'cancel') return notNow(task, stop);
  if (task.state.why !== 'unreleased') return change(endedBy(task, stop));
  return stop === 'fail'
    ? change({ state: { at: 'ending', ending: approvedFailure(task, stops.fail.error) } })
    : refuse('not_now', 'The ledger contradicts the end of the task: an operator decides, not its deadline.');
}

/** An operator ends what is not written yet; whether it was is the ledger's word. */
export function wantedWhileEnding(task: In<'ending'>, { stop }: EventOf<'wanted'>): Next {
  if (stop !== 'fail') return notNow(task, stop);
  return task.state.ending.kind === 'failed' ? unchanged : change(endedBy(task, stop));
}

/** The end is written whatever the ledger says. What the task has failed of before stays its error. */
function approvedFailure({ state }: Task, error: TaskError): Ending {
  const isFailing = state.at === 'review' && state.why === 'unreleased';
  return { kind: 'failed', ...defined({ error: isFailing ? state.error : error }), approved: true };
}

/** Whether the task still has the job, and the attempt, that the event is about. */
export function isAboutIts(task: Task, { n, job }: { readonly n?: number; readonly job?: string }): boolean {
  const attempt = attemptAt(task.state, task.attempts);
  return (n === undefined || n === attempt?.n) && (job === undefined || job === attempt?.operation?.id);
}

/** There is no job, or its upstream has ended it. */
export function stopped(task: Task, event: EventOf<'stopped'>): Next {
  const stop = stopOf(task.state);
  if (stop === undefined) return refuse('not_now', 'The task has no stop to carry out.');
  if (!isAboutIts(task, event)) return refuse('decided', 'The task has another job by now.');
  return change({ attempts: withoutLost(task), ...endedBy(task, stop) });
}

/** Only a cancellation depends on the upstream; any other stop stays. */
export function unstoppable(task: In<'stopping'>, event: EventOf<'unstoppable'>): Next {
  return task.state.stop === 'cancel' && isAboutIts(task, event)
    ? change({ state: unstopped(task.state) })
    : unchanged;
}

function unstopped({ n, code }: StateOf<'stopping'>): TaskState {
  return code === undefined ? { at: 'waiting', n } : { at: 'broken', n, code };
}

/** Moves the deadline. A stop because of the old deadline is withdrawn if the new one is in the future. */
export function extended(task: Task, { seconds }: EventOf<'extended'>, at: number): Next {
  const deadlineAt = task.deadlineAt + seconds * 1000;
  const { state } = task;
  if (deadlineAt <= at || stopOf(state) !== 'expire') return change({ deadlineAt });
  if (state.at === 'stopping') return change({ deadlineAt, state: unstopped(state) });
  if (state.at !== 'sending' && state.at !== 'searching') return change({ deadlineAt });
  const { stop: _stop, ...kept } = state;
  return change({ deadlineAt, state: kept });
}

/** Nobody is left to wait for anything. */
export function orphaned(task: Task): Next {
  const ending = approvedFailure(task, taskFailures.interrupted);
  return change({ attempts: withoutLost(task), state: { at: 'ending', ending } });
}

export function ended(_task: In<'ending'>, event: EventOf<'ended'>, at: number): Next {
  const { status, charge, chargeEstimated, error, upstream } = event;
  return change({
    state: { at: 'ended' },
    status,
    charge,
    chargeEstimated,
    ...(upstream === undefined ? {} : { cost: upstream.cost }),
    ...(upstream === undefined || upstream.unknown === 0 ? {} : { costUnknown: upstream.unknown }),
    error,
    completedAt: at,
  });
}
