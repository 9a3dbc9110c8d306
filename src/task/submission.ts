import type { Attempt } from './attempt.ts';
import { defined } from '../base/defined.ts';
import type { RouteCandidate } from './candidates.ts';
import {
  afterCandidate, newRound, queuedFor, replacements, restedFor, roundAfterLoss, roundAfterPause, withRest,
} from './rounds.ts'; // prettier-ignore
import type { Task } from './record.ts';
import { sameCandidate, stopOf, type EventOf, type Round } from './state.ts';
import { endedBy } from './stop.ts';
import { behindCode } from './task.ts';
import { change, notNow, refuse, unchanged, withAttempt, type In, type Next } from './transition.ts';

export function skipped(task: In<'queued'>, { channels }: EventOf<'skipped'>, at: number): Next {
  const { state } = task;
  const left = state.left.filter(({ channel }) => !channels.includes(channel));
  // A round that has no channels left is over, even if this event did not skip any.
  if (left.length > 0 && left.length === state.left.length) return unchanged;
  return change({ state: afterCandidate(task, { ...state, left }, at) });
}

/** The request must not be sent until this has been written. */
export function sending(
  { state, attempts }: In<'queued'>,
  { candidate, owner, marker, terms, inputSeconds }: EventOf<'sending'>,
  at: number,
): Next {
  if (!isAsked(candidate, state.left)) {
    return refuse('decided', `${candidate.channel} is not part of this round.`);
  }
  const begun = { state: 'sending', owner, startedAt: at, ...defined({ terms }) } as const;
  // A submission that was not accepted keeps its number when it is repeated, so that the record does not grow while the
  // task waits. If a job turned up after all, use a new number, because that job carries the attempt's marker.
  const again = attempts.findLast(
    (one) => sameCandidate(one, candidate) && one.state === 'not_accepted' && one.stray === undefined,
  );
  const n = again?.n ?? attempts.length + 1;
  if (again === undefined && attempts.some((one) => one.marker === marker)) {
    return refuse(
      'decided',
      `The marker ${marker} belongs to another attempt: the record has changed in the meantime.`,
    );
  }
  const { channel, credential } = candidate;
  return change({
    ...defined({ inputSeconds }),
    state: { ...queuedFor(state), at: 'sending', n },
    attempts:
      again === undefined
        ? [...attempts, { channel, credential, ...begun, n, marker }]
        : attempts.map((one) => (one === again ? { ...withoutOutcome(one), ...begun } : one)),
  });
}

function withoutOutcome(attempt: Attempt) {
  const { endedAt: _ended, code: _code, message: _message, messageToCaller: _own, ...kept } = attempt;
  return kept;
}

/** Only the process that began the submission may repeat the event. */
export function sendingAgain({ state, attempts }: In<'sending'>, { owner }: EventOf<'sending'>): Next {
  return attempts.find(({ n }) => n === state.n)?.owner === owner
    ? unchanged
    : refuse('decided', 'A submission is in flight.');
}

function isAsked(candidate: RouteCandidate, left: readonly RouteCandidate[]): boolean {
  return left.some((other) => sameCandidate(other, candidate));
}

type Unanswered = In<'sending' | 'searching' | 'asking'>;

type Refusal = EventOf<'not_accepted' | 'rejected'>;

/**
 * Only the process that sent the submission may report its outcome. It may do so even after the submission was recorded
 * as lost.
 */
function refusedAttempt({ state, attempts }: Unanswered, { n, owner }: Refusal): Attempt | undefined {
  const attempt = attempts.find((one) => one.n === n);
  return state.n === n && attempt?.owner === owner ? attempt : undefined;
}

/** Refuses the event if the upstream's refusal does not concern the submission in flight. */
export function unheard(task: Task, { kind, n }: Refusal): Next {
  return n === undefined ? notNow(task, kind) : decidedOtherwise;
}

export const decidedOtherwise = refuse(
  'decided',
  'This submission was already recorded with a different outcome.',
);

/** The channel had no capacity, or the submission could not be prepared, so no attempt has begun. */
export function notBegun(task: In<'queued'>, event: EventOf<'not_accepted'>, at: number): Next {
  const { n, code, candidate, stays } = event;
  if (n !== undefined) return decidedOtherwise;
  if (!isAsked(candidate, task.state.left)) {
    return refuse('decided', `${candidate.channel} is not part of this round (${code}).`);
  }
  const { named, resting } = restsAfter(task, event, candidate);
  if (stays) return change({ resting: named });
  return change({
    resting,
    state: afterRefusal({ ...task, resting }, task.state, { at, candidate, event }),
  });
}

export function notAccepted(task: Unanswered, event: EventOf<'not_accepted'>, at: number): Next {
  const { code, message, stays } = event;
  // Take the channel from the record rather than from the event.
  const candidate = refusedAttempt(task, event);
  if (candidate === undefined) return unheard(task, event);
  const { state } = task;
  const attempts = withAttempt(task, candidate.n, { state: 'not_accepted', code, message, endedAt: at });
  const stop = stopOf(state);
  if (stop !== undefined) return change({ attempts, ...endedBy(task, stop) });
  const { named, resting } = restsAfter(task, event, candidate);
  if (stays && state.at === 'sending') return change({ attempts, resting: named, state: queuedFor(state) });
  const after = { ...task, attempts, resting };
  const round = state.at === 'sending' ? state : roundAfterLoss(after, at);
  return change({ attempts, resting, state: afterRefusal(after, round, { at, candidate, event }) });
}

interface RefusedBy {
  readonly at: number;
  readonly candidate: RouteCandidate;
  readonly event: EventOf<'not_accepted'>;
}

function afterRefusal(task: Task, round: Round, { at, candidate, event }: RefusedBy) {
  const left = round.left.filter((other) => !sameCandidate(other, candidate));
  const { channel, credential } = candidate;
  const full = event.full === true ? [...round.full, { channel, credential }] : round.full;
  return afterCandidate(task, { ...round, left, full }, at);
}

/** In `named`, delays count from the start of the task's step. In `resting`, they count from now. */
function restsAfter(
  task: Task,
  { retryAfterMs, elapsedMs = 0 }: EventOf<'not_accepted'>,
  candidate: RouteCandidate,
) {
  const namedMs = retryAfterMs === undefined ? undefined : elapsedMs + retryAfterMs;
  const named = withRest(task.resting, candidate, namedMs);
  return { named, resting: restedFor(named, elapsedMs) };
}

export function rejectedUnsent(_task: In<'queued'>, { n, ...event }: EventOf<'rejected'>): Next {
  return n === undefined ? failedWith(event) : decidedOtherwise;
}

function failedWith(said: Omit<EventOf<'rejected'>, 'kind' | 'n'>) {
  const { code, failure } = said;
  const outcome = { kind: 'failed', code, ...behindCode(code, said), ...defined({ failure }) } as const;
  return change({ outcome, state: { at: 'ending', ending: { kind: 'failed' } } });
}

/** The upstream rejected the request itself. The task fails, or continues on a fallback channel. */
export function rejected(task: Unanswered, event: EventOf<'rejected'>, at: number): Next {
  const { code, message, messageToCaller, failure, elapsedMs } = event;
  const attempt = refusedAttempt(task, event);
  if (attempt === undefined) return unheard(task, event);
  const word = { code, message, ...defined({ messageToCaller, failure }) };
  const attempts = withAttempt(task, attempt.n, { state: 'rejected', ...word, endedAt: at });
  const stop = stopOf(task.state);
  if (stop !== undefined) return change({ attempts, ...endedBy(task, stop) });
  const resting = restedFor(task.resting, elapsedMs);
  const after = { ...task, attempts, resting };
  const left = failure === undefined ? [] : replacements(after, failure.class, at);
  if (left.length > 0) return change({ attempts, resting, state: newRound(after, left) });
  const failed = failedWith(event);
  return failed.ok ? change({ attempts, ...failed.changes }) : failed;
}

/**
 * The event comes from the process that sent the submission, or from a later run that finds the submission in flight.
 */
export function lost(task: In<'sending'>, event: EventOf<'lost'>, at: number): Next {
  const { n, owner, code, message, taken } = event;
  const { state } = task;
  const attempt = task.attempts.find((one) => one.n === n);
  if (state.n !== n || (owner !== undefined && attempt?.owner !== owner)) return decidedOtherwise;
  // Drop a cancellation. Its caller already knows that the outcome is unknown, and it must not end a task on which an
  // operator decides later.
  const stop = state.stop === 'cancel' ? undefined : state.stop;
  return change({
    attempts: withAttempt(task, n, { state: 'lost', code, endedAt: at, ...defined({ message }) }),
    state: { at: 'searching', n, code, ...defined({ taken, stop }) },
  });
}

/** The upstream accepted the job after the task had continued without it. Operators are notified once. */
export function acceptedLate(task: Task, { n, operation }: EventOf<'accepted'>): Next {
  const attempt = task.attempts.find((one) => one.n === n);
  if (attempt === undefined) return refuse('decided', `The task has no attempt ${n}.`);
  const isKnown = attempt.state === 'accepted' || attempt.state === 'failed';
  if (isKnown && attempt.operation?.id === operation.id) return unchanged;
  const { channel, stray } = attempt;
  const isNoted = task.attempts.some((one) => one.channel === channel && one.stray?.id === operation.id);
  if (isNoted) return unchanged;
  if (stray === undefined) return change({ attempts: withAttempt(task, n, { stray: operation }) });
  return refuse(
    'decided',
    `Attempt ${n} already has a stray job (${stray.id}), and ${operation.id} is a different one.`,
  );
}

interface Taken extends Pick<EventOf<'accepted'>, 'n' | 'operation' | 'traceId'> {
  readonly adopted?: true;
}

export function take(
  task: Unanswered,
  { n, operation, traceId = operation.id, adopted }: Taken,
  at: number,
): Next {
  const channel = task.attempts.find((one) => one.n === n)?.channel;
  const attempts = task.attempts.map((one) => {
    const attempt = one.channel === channel && one.stray?.id === operation.id ? withoutStray(one) : one;
    if (attempt.n !== n) return attempt;
    const job = { state: 'accepted', operation, endedAt: at, ...defined({ adopted }) } as const;
    return { ...withoutOutcome(attempt), ...job };
  });
  const stop = stopOf(task.state);
  return change({
    attempts,
    state: stop === undefined ? { at: 'waiting', n } : { at: 'stopping', n, stop },
    ...(task.status === 'pending' ? { status: 'submitted' as const } : {}),
    traceId,
    progress: undefined,
    queuePosition: undefined,
  });
}

function withoutStray({ stray: _stray, ...kept }: Attempt): Attempt {
  return kept;
}

/**
 * The upstream cannot say what happened to the submission. An operator is asked, unless the task is about to end
 * anyway.
 */
export function asked({ state }: In<'searching'>): Next {
  if (state.stop !== undefined) return unchanged;
  const { n, code, taken } = state;
  return change({ state: { at: 'asking', n, code, ...defined({ taken }) } });
}

export function resumed(task: In<'pausing'>, { elapsedMs = 0 }: EventOf<'resumed'>, at: number): Next {
  return change(roundAfterPause(task, task.state, { elapsedMs, at }));
}
