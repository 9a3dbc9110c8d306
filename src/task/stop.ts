import { defined } from '../base/defined.ts';
import type { Task } from './record.ts';
import { inputUnreadable, taskFailures } from './failures.ts';
import { attemptAt, isSubmitting, stopOf } from './state.ts';
import type { Ending, EventOf, StateOf, Stop, TaskState } from './state.ts';
import type { TaskError } from './task.ts';
import { change, notNow, refuse, unchanged, withoutLost, type In, type Next } from './transition.ts';

/**
 * A stop replaces an earlier one only if its `force` is greater, so a deadline does not override an operator. `why`
 * must complete a sentence.
 */
const stops = {
  cancel: { force: 0, error: taskFailures.cancelled, why: 'it is being cancelled' },
  expire: { force: 1, error: taskFailures.expired, why: 'its deadline has passed (`extend` moves it)' },
  fail: { force: 2, error: taskFailures.operator, why: 'an operator has decided to fail it' },
} as const satisfies Record<Stop, object>;

/**
 * Call this only if the job has stopped or never existed. If a failed job was not replaced before the deadline, the
 * task fails with that job's error.
 */
export function endedBy({ state, wait }: Task, stop: Stop): { readonly state: TaskState } {
  const hasFailed = stop === 'expire' && isSubmitting(state) && state.replaces === true;
  const isUnread = stop === 'expire' && wait?.code === inputUnreadable;
  const error = isUnread ? taskFailures.expiredUnread : stops[stop].error;
  const ending: Ending = hasFailed ? { kind: 'failed' } : { kind: 'failed', error };
  return { state: { at: 'ending', ending } };
}

export function submitsNothing(stop: Stop): Next {
  return refuse('not_now', `The task will no longer be submitted: ${stops[stop].why}.`);
}

export function wantedIdle(task: Task, { stop }: EventOf<'wanted'>): Next {
  return change(endedBy(task, stop));
}

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

/** Returns undefined if `stop` has more force than the earlier stop. */
function weaker(stop: Stop, before: Stop | undefined): Next | undefined {
  if (before === undefined || stops[stop].force > stops[before].force) return undefined;
  return stop === 'cancel' && before !== stop
    ? refuse('not_now', `The task is about to end: ${stops[before].why}.`)
    : unchanged;
}

/**
 * A deadline closes the review and fails the task, even if its job succeeded. If the ledger contradicts that outcome,
 * only an operator can decide.
 */
export function wantedInReview(task: In<'review'>, { stop }: EventOf<'wanted'>): Next {
  if (stop === 'cancel') return notNow(task, stop);
  if (task.state.why !== 'unreleased') return change(endedBy(task, stop));
  return stop === 'fail'
    ? change({ state: { at: 'ending', ending: approvedFailure(task, stops.fail.error) } })
    : refuse(
        'not_now',
        'The ledger contradicts the task’s outcome, so only an operator can end the task, even after its deadline.',
      );
}

/** An operator can fail a task until the ledger has written its outcome. */
export function wantedWhileEnding(task: In<'ending'>, { stop }: EventOf<'wanted'>): Next {
  if (stop !== 'fail') return notNow(task, stop);
  return task.state.ending.kind === 'failed' ? unchanged : change(endedBy(task, stop));
}

/** The failure is written even if the ledger contradicts it. If the task already has an error, that error is kept. */
function approvedFailure({ state }: Task, error: TaskError): Ending {
  const isFailing = state.at === 'review' && state.why === 'unreleased';
  return { kind: 'failed', ...defined({ error: isFailing ? state.error : error }), approved: true };
}

export function isAboutIts(task: Task, { n, job }: { readonly n?: number; readonly job?: string }): boolean {
  const attempt = attemptAt(task.state, task.attempts);
  return (n === undefined || n === attempt?.n) && (job === undefined || job === attempt?.operation?.id);
}

export function stopped(task: Task, event: EventOf<'stopped'>): Next {
  const stop = stopOf(task.state);
  if (stop === undefined) return refuse('not_now', 'Nobody has asked to stop the task.');
  if (!isAboutIts(task, event)) return refuse('decided', 'The task now has a different job.');
  return change({ attempts: withoutLost(task), ...endedBy(task, stop) });
}

/**
 * The upstream refused to cancel the job. A cancellation is then dropped, because it depends on the upstream. Other
 * stops remain.
 */
export function unstoppable(task: In<'stopping'>, event: EventOf<'unstoppable'>): Next {
  return task.state.stop === 'cancel' && isAboutIts(task, event)
    ? change({ state: unstopped(task.state) })
    : unchanged;
}

function unstopped({ n, code }: StateOf<'stopping'>): TaskState {
  return code === undefined ? { at: 'waiting', n } : { at: 'broken', n, code };
}

/** If the new deadline is in the future, a stop that the old deadline caused is withdrawn. */
export function extended(task: Task, { seconds }: EventOf<'extended'>, at: number): Next {
  const deadlineAt = task.deadlineAt + seconds * 1000;
  const { state } = task;
  if (deadlineAt <= at || stopOf(state) !== 'expire') return change({ deadlineAt });
  if (state.at === 'stopping') return change({ deadlineAt, state: unstopped(state) });
  if (state.at !== 'sending' && state.at !== 'searching') return change({ deadlineAt });
  const { stop: _stop, ...kept } = state;
  return change({ deadlineAt, state: kept });
}

/** The task's workflow no longer exists, so nothing else would end the task. */
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
