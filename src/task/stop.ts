import { defined } from '../base/defined.ts';
import type { Task } from './record.ts';
import { taskFailures } from './failures.ts';
import { attemptAt, attemptInFlight, hasJob, isUnfinished } from './state.ts';
import type { Ending, EventOf, StateOf, Stop, TaskState } from './state.ts';
import type { TaskError } from './task.ts';
import { change, notNow, refuse, unchanged, withoutLost } from './transition.ts';
import type { Next } from './transition.ts';

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
 * What is wanted happens: whoever asks for it has made sure that there is no job, or that it was stopped. A task whose job
 * failed, and which found no other one in time, has failed as its job did.
 */
export function endedBy(
  { state }: Task,
  stop: Stop,
): { readonly state: TaskState; readonly wanted: undefined } {
  const hasFailed = stop === 'expire' && state.at === 'submitting' && state.replaces === true;
  const ending: Ending = hasFailed ? { kind: 'failed' } : { kind: 'failed', error: stops[stop].error };
  return { state: { at: 'ending', ending }, wanted: undefined };
}

/** For who would send something for a task that is to end. */
export function submitsNothing(stop: Stop): Next {
  return refuse('not_now', `The task submits nothing any more: ${stops[stop].why}.`);
}

/** What has no job ends at once; otherwise it is noted, and whoever hears of the job acts on it. */
export function wanted(task: Task, { stop, deadlineAt }: EventOf<'wanted'>): Next {
  const { state } = task;
  if (deadlineAt !== undefined && deadlineAt < task.deadlineAt) {
    return refuse('not_now', 'The deadline has been moved.');
  }
  if (state.at === 'lost' && stop === 'fail')
    return change({ attempts: withoutLost(task), ...endedBy(task, stop) });
  if (task.wanted !== undefined && stops[stop].force <= stops[task.wanted].force) {
    return stop === 'cancel' && task.wanted !== stop
      ? refuse('not_now', `The task is about to end: ${stops[task.wanted].why}.`)
      : unchanged;
  }
  switch (state.at) {
    case 'submitting':
      return attemptInFlight(task.attempts) === undefined
        ? change(endedBy(task, stop))
        : change({ wanted: stop });
    case 'pausing':
      return change(endedBy(task, stop));
    case 'waiting':
    case 'broken':
      return change({ wanted: stop });
    case 'lost':
      return stop === 'cancel' ? notNow(task, stop) : change({ wanted: stop });
    case 'review':
      return endedInReview(task, state, stop);
    case 'ending':
      return endedOtherwise(task, state, stop);
    case 'ended':
    case 'given_up':
      return notNow(task, stop);
    default:
      return state satisfies never;
  }
}

/** The deadline fails what has succeeded; where even a failure contradicts the ledger, only a person can let it stand. */
function endedInReview(task: Task, review: StateOf<'review'>, stop: Stop): Next {
  if (stop === 'cancel') return notNow(task, stop);
  if (review.why !== 'unreleased') return change(endedBy(task, stop));
  return stop === 'fail'
    ? change({ state: { at: 'ending', ending: approvedFailure(task, stops.fail.error) } })
    : refuse('not_now', 'The ledger contradicts the end of the task: an operator decides, not its deadline.');
}

/** An operator ends what is not written yet; whether it was is the ledger's word. */
function endedOtherwise(task: Task, { ending }: StateOf<'ending'>, stop: Stop): Next {
  if (stop !== 'fail') return notNow(task, stop);
  return ending.kind === 'failed' ? unchanged : change(endedBy(task, stop));
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

export function stopped(task: Task, event: EventOf<'stopped'>): Next {
  const { state } = task;
  if (!hasJob(state) && state.at !== 'lost') return notNow(task, event.kind);
  if (task.wanted === undefined) return refuse('not_now', 'Nobody wants the task to end any more.');
  if (!isAboutIts(task, event)) return refuse('decided', 'The task has another job by now.');
  return change({ attempts: withoutLost(task), ...endedBy(task, task.wanted) });
}

/** Only a cancellation depends on the upstream; what else is wanted stays so. */
export function unstoppable(task: Task, event: EventOf<'unstoppable'>): Next {
  return hasJob(task.state) && task.wanted === 'cancel' && isAboutIts(task, event)
    ? change({ wanted: undefined })
    : unchanged;
}

/** Time that is given after the deadline takes the deadline's word back. */
export function extended(task: Task, { kind, seconds }: EventOf<'extended'>, at: number): Next {
  if (!isUnfinished(task.state) || task.state.at === 'ending') return notNow(task, kind);
  const deadlineAt = task.deadlineAt + seconds * 1000;
  return change({
    deadlineAt,
    ...(task.wanted === 'expire' && deadlineAt > at ? { wanted: undefined } : {}),
  });
}

/** Nobody is left to wait for anything; an end that is decided is only to be written. */
export function orphaned(task: Task, { kind }: EventOf<'orphaned'>): Next {
  if (task.state.at === 'ended') return notNow(task, kind);
  if (task.state.at === 'ending') return unchanged;
  const ending = approvedFailure(task, taskFailures.interrupted);
  return change({ attempts: withoutLost(task), state: { at: 'ending', ending }, wanted: undefined });
}

export function ended(task: Task, event: EventOf<'ended'>, at: number): Next {
  if (task.state.at === 'ended') return unchanged;
  if (task.state.at !== 'ending') return notNow(task, event.kind);
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
    wanted: undefined,
  });
}
