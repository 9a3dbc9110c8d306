import { defined } from '../base/defined.ts';
import { replacements, newRound, restedFor } from './rounds.ts';
import type { Task } from './record.ts';
import { attemptAt, hasJob } from './state.ts';
import type { EventOf } from './state.ts';
import { endedBy, isAboutIts, submitsNothing } from './stop.ts';
import { accepted, take } from './submission.ts';
import { change, notNow, refuse, unchanged, withAttempt, withoutLost } from './transition.ts';
import type { Next } from './transition.ts';

/** From the job at an upstream to an end that is decided, and what operators do about it. */

/** The upstream has accepted the submission; one that renders at once has ended it with the same answer. */
export function acceptedAs(task: Task, event: EventOf<'accepted'>, at: number): Next {
  const taken = accepted(task, event, at);
  const { n, outcome } = event;
  if (!taken.ok || outcome === undefined || taken.changes.state?.at !== 'waiting') return taken;
  const { attempts = task.attempts, state } = taken.changes;
  const over = polled({ ...task, attempts, state }, { kind: 'polled', n, outcome, unbilled: false }, at);
  return over.ok ? change({ ...taken.changes, ...over.changes }) : over;
}

/** The upstream has ended the job: the task's end, or another job in its place. */
export function polled(task: Task, event: EventOf<'polled'>, at: number): Next {
  const { n, outcome, unbilled, traceId, elapsedMs } = event;
  const over = { outcome, ...defined({ traceId }), wanted: undefined };
  if (outcome.kind === 'succeeded') {
    if (!corrects(task, event) && !isWaitingFor(task, event)) return unasked(task, event);
    return change({ ...over, state: { at: 'ending', ending: { kind: 'succeeded' } } });
  }
  if (!isWaitingFor(task, event)) return unasked(task, event);
  const { failure, code, message } = outcome;
  // The upstream stopped it because it was asked to; the poll has seen it first.
  if (task.wanted !== undefined && failure?.class === 'cancelled') {
    return change({ ...over, ...endedBy(task, task.wanted) });
  }
  if (unbilled && failure !== undefined && task.wanted === undefined) {
    const attempts = withAttempt(task, n, { state: 'failed', code, message, failure, endedAt: at });
    const resting = restedFor(task.resting, elapsedMs);
    const left = replacements({ ...task, attempts, resting }, failure.class, at);
    if (left.length > 0) return change({ attempts, resting, state: newRound({ attempts }, left) });
  }
  return change({ ...over, state: { at: 'ending', ending: { kind: 'failed' } } });
}

/** Among the upstream's own words a success is the last one, until the end is written. */
function corrects({ state, attempts }: Task, { n, job }: EventOf<'polled'>): boolean {
  if (state.at !== 'ending' || state.ending.kind !== 'failed' || state.ending.error !== undefined)
    return false;
  const attempt = attempts.find((one) => one.n === n);
  return attempt?.state === 'accepted' && (job === undefined || job === attempt.operation?.id);
}

function isWaitingFor(task: Task, event: EventOf<'polled' | 'broken'>): boolean {
  return hasJob(task.state) && isAboutIts(task, event);
}

function unasked(task: Task, { kind }: EventOf<'polled' | 'broken'>): Next {
  return hasJob(task.state) ? refuse('decided', 'The task has another job by now.') : notNow(task, kind);
}

/** Polling stops, and a person is asked. */
export function broken(task: Task, event: EventOf<'broken'>): Next {
  if (!isWaitingFor(task, event)) return unasked(task, event);
  return task.state.at === 'broken'
    ? unchanged
    : change({ state: { at: 'broken', n: event.n, code: event.code } });
}

/** An operator names the job of a lost submission. */
export function adopted(task: Task, { kind, operation }: EventOf<'adopted'>, at: number): Next {
  if (task.state.at !== 'lost') return notNow(task, kind);
  return take(task, { n: task.state.n, operation, adopted: true }, at);
}

/** The operator named the wrong one: the submission is lost again. */
export function undone(task: Task, { kind }: EventOf<'undone'>, at: number): Next {
  const { state } = task;
  if (!hasJob(state)) return notNow(task, kind);
  const attempt = attemptAt(state, task.attempts);
  if (attempt?.adopted !== true) {
    return refuse('not_now', 'The task’s job was not adopted by an operator: there is nothing to undo.');
  }
  const code = 'adoption_undone';
  const message = `${attempt.operation?.id ?? ''} was adopted, and taken back.`;
  const { operation: _operation, adopted: _adopted, ...kept } = attempt;
  const again = { ...kept, state: 'lost', code, message, endedAt: at } as const;
  return change({
    attempts: task.attempts.map((one) => (one === attempt ? again : one)),
    state: { at: 'lost', n: attempt.n, code, asked: true },
    traceId: '',
    progress: undefined,
    queuePosition: undefined,
    // A cancellation was that of the job, and what is lost cannot be cancelled.
    ...(task.wanted === 'cancel' ? { wanted: undefined } : {}),
  });
}

/** An operator takes the risk of a second job: to the same channel, or another one of the plan. */
export function resubmitted(task: Task, { kind, channel }: EventOf<'resubmitted'>): Next {
  const { state, plan } = task;
  const attempt = attemptAt(state, task.attempts);
  if (state.at !== 'lost' || attempt === undefined) return notNow(task, kind);
  if (task.wanted !== undefined) return submitsNothing(task.wanted);
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

/** An operator has the result. */
export function completed(task: Task, { kind, outcome, charge }: EventOf<'completed'>): Next {
  if (!['waiting', 'broken', 'lost', 'review'].includes(task.state.at)) return notNow(task, kind);
  return change({
    outcome,
    attempts: withoutLost(task),
    wanted: undefined,
    state: { at: 'ending', ending: { kind: 'succeeded', approved: true, accepted: charge } },
  });
}
