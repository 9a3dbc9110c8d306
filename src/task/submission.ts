import type { Attempt } from './attempt.ts';
import { defined } from '../base/defined.ts';
import type { RouteCandidate } from './candidates.ts';
import {
  afterCandidate, newRound, replacements, restedFor, roundAfterLoss, roundAfterPause, withRest,
} from './rounds.ts'; // prettier-ignore
import type { Task } from './record.ts';
import { attemptInFlight, sameCandidate } from './state.ts';
import type { EventOf } from './state.ts';
import { endedBy, submitsNothing } from './stop.ts';
import { settledAgain } from './review.ts';
import { change, notNow, refuse, unchanged, withAttempt } from './transition.ts';
import type { Next } from './transition.ts';

/** From a round's next channel to the job at an upstream: at most once. */

/** None of them is asked in this round. */
export function skipped(task: Task, { kind, channels }: EventOf<'skipped'>, at: number): Next {
  const { state } = task;
  if (state.at !== 'submitting' || attemptInFlight(task.attempts) !== undefined) return notNow(task, kind);
  const left = state.left.filter(({ channel }) => !channels.includes(channel));
  // A round that asks nobody is over, whatever has brought it about.
  if (left.length > 0 && left.length === state.left.length) return unchanged;
  return change({ state: afterCandidate(task, { ...state, left }, at) });
}

/** The request may leave after this is written, and not before. */
export function sending(
  task: Task,
  { kind, candidate, owner, marker, terms }: EventOf<'sending'>,
  at: number,
): Next {
  const { state, attempts } = task;
  if (state.at !== 'submitting') return notNow(task, kind);
  const inFlight = attemptInFlight(attempts);
  if (inFlight !== undefined) {
    return inFlight.owner === owner ? unchanged : refuse('decided', 'A submission is in flight.');
  }
  if (task.wanted !== undefined) return submitsNothing(task.wanted);
  if (!isAsked(candidate, state.left)) {
    return refuse('decided', `${candidate.channel} is not asked in this round.`);
  }
  const begun = { state: 'sending' as const, owner, startedAt: at, ...defined({ terms }) };
  // What was certainly not accepted keeps its number when it is resubmitted, so that waiting makes no record longer;
  // unless a job of it has turned up all the same, which carries its marker.
  const again = attempts.findLast(
    (one) => sameCandidate(one, candidate) && one.state === 'not_accepted' && one.stray === undefined,
  );
  if (again === undefined) {
    if (attempts.some((one) => one.marker === marker)) {
      return refuse(
        'decided',
        `The marker ${marker} is another attempt’s: the record has changed meanwhile.`,
      );
    }
    const { channel, credential } = candidate;
    return change({
      attempts: [...attempts, { channel, credential, ...begun, n: attempts.length + 1, marker }],
    });
  }
  const { endedAt: _ended, code: _code, message: _message, ...kept } = again;
  return change({ attempts: attempts.map((one) => (one === again ? { ...kept, ...begun } : one)) });
}

function isAsked(candidate: RouteCandidate, left: readonly RouteCandidate[]): boolean {
  return left.some((other) => sameCandidate(other, candidate));
}

/**
 * Why this refusal is not heard; undefined: it is. Only who has sent it may say that it was refused, be it lost
 * meanwhile. What was not begun says something about a round that nobody else has taken further, and nothing about a
 * submission that is lost.
 */
function unheard(task: Task, { kind, n, owner }: EventOf<'not_accepted' | 'rejected'>): Next | undefined {
  const { state, attempts } = task;
  if (n === undefined) {
    const isIdle = state.at === 'submitting' && attemptInFlight(attempts) === undefined;
    return isIdle ? undefined : notNow(task, kind);
  }
  const attempt = attempts.find((one) => one.n === n);
  const isOpen = isUnanswered(task, attempt);
  return isOpen && attempt?.owner === owner
    ? undefined
    : refuse('decided', 'The record of this submission was decided otherwise.');
}

/** The task still waits for the answer to this attempt. */
function isUnanswered({ state }: Task, attempt: Attempt | undefined): boolean {
  if (state.at === 'submitting') return attempt?.state === 'sending';
  return state.at === 'lost' && state.n === attempt?.n && attempt.state === 'lost';
}

/** Another try on the same channel, the next channel, or a pause. */
export function notAccepted(task: Task, event: EventOf<'not_accepted'>, at: number): Next {
  const { n, code, message, stays, full: isFull, retryAfterMs, elapsedMs = 0 } = event;
  const refusal = unheard(task, event);
  if (refusal !== undefined) return refusal;
  const { state } = task;
  // The record knows where it was sent.
  const candidate = task.attempts.find((one) => one.n === n) ?? event.candidate;
  const attempts =
    n === undefined
      ? task.attempts
      : withAttempt(task, n, { state: 'not_accepted', code, message, endedAt: at });
  if (task.wanted !== undefined) return change({ attempts, ...endedBy(task, task.wanted) });
  // Counted from when the work began, as the others are.
  const namedMs = retryAfterMs === undefined ? undefined : elapsedMs + retryAfterMs;
  const named = withRest(task.resting, candidate, namedMs);
  const resting = restedFor(named, elapsedMs);
  const after = { ...task, attempts, resting };
  const round = state.at === 'submitting' ? state : roundAfterLoss(after, at);
  if (n === undefined && !isAsked(candidate, round.left)) {
    return refuse('decided', `${candidate.channel} is not asked in this round (${code}).`);
  }
  if (stays && state.at === 'submitting') return change({ attempts, resting: named });
  const left = round.left.filter((other) => !sameCandidate(other, candidate));
  const { channel, credential } = candidate;
  const full = isFull === true ? [...round.full, { channel, credential }] : round.full;
  return change({ attempts, resting, state: afterCandidate(after, { ...round, left, full }, at) });
}

/** The upstream does not want the request itself: the task fails, or goes where its fallback says. */
export function rejected(task: Task, event: EventOf<'rejected'>, at: number): Next {
  const { n, code, message, failure, elapsedMs } = event;
  const refusal = unheard(task, event);
  if (refusal !== undefined) return refusal;
  const word = { code, message, ...(failure === undefined ? {} : { failure }) };
  const attempts =
    n === undefined ? task.attempts : withAttempt(task, n, { state: 'rejected', ...word, endedAt: at });
  if (task.wanted !== undefined) return change({ attempts, ...endedBy(task, task.wanted) });
  const resting = restedFor(task.resting, elapsedMs);
  const after = { ...task, attempts, resting };
  const left = failure === undefined || n === undefined ? [] : replacements(after, failure.class, at);
  if (left.length > 0) return change({ attempts, resting, state: newRound(after, left) });
  const outcome = { kind: 'failed', ...word, message: `${code}: ${message}` } as const;
  return change({ attempts, outcome, state: { at: 'ending', ending: { kind: 'failed' } } });
}

/** Said by who has sent it, or by a later run that finds it in flight. */
export function lost(task: Task, { n, owner, code, message, taken }: EventOf<'lost'>, at: number): Next {
  const { state } = task;
  const attempt = task.attempts.find((one) => one.n === n);
  if (state.at === 'lost' && state.n === n) return unchanged;
  const isOwners = owner === undefined || attempt?.owner === owner;
  if (state.at !== 'submitting' || attempt?.state !== 'sending' || !isOwners) {
    return refuse('decided', 'The record of this submission was decided otherwise.');
  }
  return change({
    attempts: withAttempt(task, n, { state: 'lost', code, endedAt: at, ...defined({ message }) }),
    state: { at: 'lost', n, code, asked: false, ...defined({ taken }) },
    // Whoever asked to cancel learns that it is not known; the request must not end what an operator decides later.
    ...(task.wanted === 'cancel' ? { wanted: undefined } : {}),
  });
}

/** The upstream has the job: the task's, where it still waits for this answer, and nobody's otherwise. */
export function accepted(task: Task, event: EventOf<'accepted'>, at: number): Next {
  const { n, operation } = event;
  const attempt = task.attempts.find((one) => one.n === n);
  if (attempt === undefined) return refuse('decided', `The task has no attempt ${n}.`);
  const isKnown = attempt.state === 'accepted' || attempt.state === 'failed';
  if (isKnown && attempt.operation?.id === operation.id) return unchanged;
  const isOpen = isUnanswered(task, attempt);
  if (isOpen) return take(task, event, at);
  // The task has continued without it: the job belongs to nobody, and an operator should know, once of each job.
  const { channel, stray } = attempt;
  const isNoted = task.attempts.some((one) => one.channel === channel && one.stray?.id === operation.id);
  if (isNoted) return unchanged;
  if (stray === undefined) return change({ attempts: withAttempt(task, n, { stray: operation }) });
  return refuse(
    'decided',
    `Attempt ${n} has a stray job already (${stray.id}); ${operation.id} is another one.`,
  );
}

interface Taken extends Pick<EventOf<'accepted'>, 'n' | 'operation' | 'traceId'> {
  /** An operator named the job. */
  readonly adopted?: true;
}

/** The job is the task's. */
export function take(task: Task, { n, operation, traceId = operation.id, adopted }: Taken, at: number): Next {
  const channel = task.attempts.find((one) => one.n === n)?.channel;
  const attempts = task.attempts.map((one) => {
    const attempt = one.channel === channel && one.stray?.id === operation.id ? withoutStray(one) : one;
    if (attempt.n !== n) return attempt;
    const { code: _code, message: _message, ...kept } = attempt;
    const named = adopted === undefined ? {} : { adopted };
    return { ...kept, state: 'accepted' as const, operation, endedAt: at, ...named };
  });
  return change({
    attempts,
    state: { at: 'waiting', n },
    ...(task.status === 'pending' ? { status: 'submitted' as const } : {}),
    traceId,
    progress: undefined,
    queuePosition: undefined,
  });
}

function withoutStray({ stray: _stray, ...kept }: Attempt): Attempt {
  return kept;
}

/** The upstream cannot say what became of it. */
export function asked(task: Task, { kind }: EventOf<'asked'>): Next {
  if (task.state.at !== 'lost') return notNow(task, kind);
  return task.state.asked ? unchanged : change({ state: { ...task.state, asked: true } });
}

/** The wait is over, or a person ends it. */
export function resumed(task: Task, { kind, elapsedMs = 0 }: EventOf<'resumed'>, at: number): Next {
  const { state } = task;
  if (state.at === 'pausing') return change(roundAfterPause(task, state, { elapsedMs, at }));
  if (state.at === 'broken') return change({ state: { at: 'waiting', n: state.n } });
  if (state.at === 'review') return settledAgain(state);
  if (state.at !== 'lost') return notNow(task, kind);
  return state.asked ? change({ state: { ...state, asked: false } }) : unchanged;
}
