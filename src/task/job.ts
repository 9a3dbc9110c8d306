import { defined } from '../base/defined.ts';
import { replacements, newRound, restedFor } from './rounds.ts';
import { attemptAt, isPolled, stopOf, type EventOf } from './state.ts';
import { endedBy, isAboutIts, submitsNothing } from './stop.ts';
import { acceptedLate, take } from './submission.ts';
import { change, notNow, refuse, unchanged, withAttempt, withoutLost } from './transition.ts';
import type { In, Next } from './transition.ts';

/** If the upstream renders synchronously, the same response also ends the job. */
export function accepted(
  task: In<'sending' | 'searching' | 'asking'>,
  event: EventOf<'accepted'>,
  at: number,
): Next {
  const { n, outcome } = event;
  if (n !== task.state.n) return acceptedLate(task, event);
  const taken = take(task, event, at);
  const { state, attempts = task.attempts } = taken.ok ? taken.changes : {};
  if (!taken.ok || outcome === undefined || state === undefined || !isPolled(state)) return taken;
  const over = polled({ ...task, attempts, state }, { kind: 'polled', n, outcome, unbilled: false }, at);
  return over.ok ? change({ ...taken.changes, ...over.changes }) : over;
}

type Job = In<'waiting' | 'stopping' | 'broken'>;

/** The task ends with its job. If the job failed, another one may replace it instead. */
export function polled(task: Job, event: EventOf<'polled'>, at: number): Next {
  const { n, outcome, unbilled, traceId, elapsedMs } = event;
  if (!isAboutIts(task, event)) return anotherJob;
  const over = { outcome, ...defined({ traceId }) };
  if (outcome.kind === 'succeeded') {
    return change({ ...over, state: { at: 'ending', ending: { kind: 'succeeded' } } });
  }
  const { failure, code, message, messageToCaller } = outcome;
  const stop = stopOf(task.state);
  // The upstream stopped the job as requested, and a poll noticed this before the cancel request returned.
  if (stop !== undefined && failure?.class === 'cancelled')
    return change({ ...over, ...endedBy(task, stop) });
  if (unbilled && failure !== undefined && stop === undefined) {
    const word = { code, message, ...defined({ messageToCaller }) };
    const attempts = withAttempt(task, n, { state: 'failed', ...word, failure, endedAt: at });
    const resting = restedFor(task.resting, elapsedMs);
    const left = replacements({ ...task, attempts, resting }, failure.class, at);
    if (left.length > 0) return change({ attempts, resting, state: newRound({ attempts }, left) });
  }
  return change({ ...over, state: { at: 'ending', ending: { kind: 'failed' } } });
}

const anotherJob = refuse('decided', 'The task now has a different job.');

/**
 * The upstream may report success after a failure was decided but not yet written. The success replaces the failure.
 */
export function corrected(task: In<'ending'>, event: EventOf<'polled'>): Next {
  const { n, job, outcome, traceId } = event;
  const { ending } = task.state;
  const attempt = task.attempts.find((one) => one.n === n);
  const isIts = attempt?.state === 'accepted' && (job === undefined || job === attempt.operation?.id);
  const isOpen = ending.kind === 'failed' && ending.error === undefined;
  if (outcome.kind !== 'succeeded' || !isOpen || !isIts) return notNow(task, event.kind);
  return change({
    outcome,
    ...defined({ traceId }),
    state: { at: 'ending', ending: { kind: 'succeeded' } },
  });
}

export function rendering(task: In<'waiting' | 'stopping'>, event: EventOf<'rendering'>): Next {
  if (!isAboutIts(task, event)) return anotherJob;
  return task.status === 'submitted' ? change({ status: 'running' }) : unchanged;
}

export function broken(task: Job, event: EventOf<'broken'>): Next {
  if (!isAboutIts(task, event)) return anotherJob;
  const { n, code } = event;
  const { state } = task;
  if (state.at === 'broken') return unchanged;
  return change({ state: state.at === 'stopping' ? { ...state, code } : { at: 'broken', n, code } });
}

export function adopted(
  task: In<'searching' | 'asking'>,
  { operation }: EventOf<'adopted'>,
  at: number,
): Next {
  return take(task, { n: task.state.n, operation, adopted: true }, at);
}

/** Used if an operator assigned the wrong job. The submission is then lost again. */
export function undone(task: Job, _event: EventOf<'undone'>, at: number): Next {
  const { state } = task;
  const attempt = attemptAt(state, task.attempts);
  if (attempt?.adopted !== true) {
    return refuse('not_now', 'The task’s job was not adopted by an operator, so there is nothing to undo.');
  }
  const code = 'adoption_undone';
  const message = `${attempt.operation?.id ?? ''} was adopted, but the adoption was undone.`;
  const { operation: _operation, adopted: _adopted, ...kept } = attempt;
  const again = { ...kept, state: 'lost', code, message, endedAt: at } as const;
  const stop = stopOf(state);
  const lost = { n: attempt.n, code };
  return change({
    attempts: task.attempts.map((one) => (one === attempt ? again : one)),
    // Drop a pending cancellation. It was meant for the adopted job, and a lost submission cannot be cancelled.
    state:
      stop === undefined || stop === 'cancel'
        ? { at: 'asking', ...lost }
        : { at: 'searching', ...lost, stop },
    traceId: '',
    progress: undefined,
    queuePosition: undefined,
  });
}

/** Submits the task again. The lost submission may have created a job that is billed too. */
export function resubmitted(
  task: In<'searching' | 'asking'>,
  { kind, channel }: EventOf<'resubmitted'>,
): Next {
  const { state, plan } = task;
  const attempt = attemptAt(state, task.attempts);
  if (attempt === undefined) return notNow(task, kind);
  const stop = stopOf(state);
  if (stop !== undefined) return submitsNothing(stop);
  const there = { channel: attempt.channel, credential: attempt.credential };
  const candidate =
    channel === undefined || channel === attempt.channel
      ? there
      : plan.candidates.find((other) => other.channel === channel);
  if (candidate === undefined) {
    const known = [...new Set(plan.candidates.map((other) => other.channel))].join(', ');
    return refuse('not_now', `The task’s plan has no channel \`${channel}\`; it has ${known}.`);
  }
  return change({ attempts: withoutLost(task), state: newRound(task, [candidate]) });
}

export function completed(
  task: In<'waiting' | 'stopping' | 'broken' | 'searching' | 'asking' | 'review'>,
  { outcome, charge }: EventOf<'completed'>,
): Next {
  return change({
    outcome,
    attempts: withoutLost(task),
    state: { at: 'ending', ending: { kind: 'succeeded', approved: true, accepted: charge } },
  });
}
