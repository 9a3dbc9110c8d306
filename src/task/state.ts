import type { Attempt, Operation } from './attempt.ts';
import type { CostTerms } from '../money/cost-terms.ts';
import { defined } from '../base/defined.ts';
import type { Failure } from '../errors/failure.ts';
import type { RouteCandidate } from './candidates.ts';
import type { UpstreamCost } from './cost.ts';
import type { Task, TaskOutcome } from './record.ts';
import type { SaidOfFailure, TaskError } from './task.ts';
import type { NewWait } from './wait.ts';

/**
 * Where a task stands, and everything that can happen to it. `next` (next.ts) is the only way from one state to
 * another; the workflow does what the state asks for.
 */
export type TaskState =
  /** Its creation continues. `tryId` names the try that owns it: `<padded time>-<random>`. */
  | (Round & { readonly at: 'creating'; readonly tryId: string })
  /** The first channel of the round is asked as soon as it may be. */
  | (Round & { readonly at: 'queued' })
  /** The request of attempt `n` may have left. `stop` ends the task unless the answer is a result. */
  | (Round & { readonly at: 'sending'; readonly n: number; readonly stop?: Stop })
  /**
   * No channel of the plan accepts the task. The next round begins `ms` after the workflow has learned of the pause;
   * `until` is the same by the clock of the process that wrote it, for people.
   */
  | (Pick<Round, 'round' | 'full'> & {
      readonly at: 'pausing';
      readonly ms: number;
      readonly until: number;
    })
  /** The answer to attempt `n` is lost, and its upstream is searched for the job. `stop` ends the task afterwards. */
  | (Lost & { readonly at: 'searching'; readonly stop?: Exclude<Stop, 'cancel'> })
  /** The search found nothing, and a person is asked. */
  | (Lost & { readonly at: 'asking' })
  /** The upstream has the job of attempt `n`. */
  | { readonly at: 'waiting'; readonly n: number }
  /** The upstream is asked to end the job. `code`: polling had stopped with this error. */
  | { readonly at: 'stopping'; readonly n: number; readonly stop: Stop; readonly code?: string }
  /** Polling stopped with an error that retrying will not fix, and a person is asked. */
  | { readonly at: 'broken'; readonly n: number; readonly code: string }
  /** How it ends is decided; the money and the end are being written. */
  | { readonly at: 'ending'; readonly ending: Ending }
  /** How it ends is decided, and a person is asked before it is written. */
  | ({ readonly at: 'review' } & Question)
  /** `abandoned`: it never was a task; this try of its creation was abandoned, and its record is about to be removed. */
  | { readonly at: 'ended'; readonly abandoned?: string };

/** `left`: channels that this round still asks, in order, with the one that is being asked. */
export interface Round {
  /** From 1. */
  readonly round: number;
  readonly left: readonly RouteCandidate[];
  /** Channels that had no room when this round asked them. */
  readonly full: readonly RouteCandidate[];
  /** The round replaces a job that failed, or was rejected; each channel is asked once. */
  readonly replaces?: true;
}

/** `taken`: the upstream named a job that another task has. */
interface Lost {
  readonly n: number;
  readonly code: string;
  readonly taken?: true;
}

export type StateName = TaskState['at'];

/** For people: the rest of a sentence. */
export const stateWords: Readonly<Record<StateName, string>> = {
  creating: 'the task is being created',
  queued: 'the task waits to be submitted',
  sending: 'the task is being submitted',
  pausing: 'the task waits until a channel accepts it',
  searching: 'the upstream is searched for the job',
  asking: 'it is not known whether the upstream has the job',
  waiting: 'the upstream has the job',
  stopping: 'the upstream is asked to end the job',
  broken: 'polling has stopped with an error that retrying will not fix',
  ending: 'the end of the task is being written',
  review: 'what the task is charged waits for a decision',
  ended: 'the task has ended',
};

function isState(name: string): name is StateName {
  return Object.hasOwn(stateWords, name);
}

export const stateNames = Object.keys(stateWords).filter(isState);

/** What a person is asked. `charge` in micro-units. */
export type Question =
  | { readonly why: ChargeQuestion; readonly charge: string }
  /** The job succeeded, and its charge cannot be computed, or contradicts the ledger. */
  | { readonly why: 'unsettled' }
  /** The task fails, with this error, and the ledger contradicts that its hold is given back. */
  | { readonly why: 'unreleased'; readonly error?: TaskError };

/**
 * `above_hold`: far more than was held. `beyond_request`: for more than the request and its model allow.
 * `contradictory`: the upstream's numbers contradict each other, or cannot be true. `unwritable`: no ledger can hold it,
 * so that nobody can accept it.
 */
export type ChargeQuestion = 'above_hold' | 'beyond_request' | 'contradictory' | 'unwritable';

/**
 * `approved`: a person has decided, or nobody is left who could be asked. `accepted`: micro-units; a person has agreed
 * that no more is charged. `error` absent: the upstream's own words count.
 */
export type Ending =
  | { readonly kind: 'succeeded'; readonly approved?: true; readonly accepted?: string }
  | { readonly kind: 'failed'; readonly error?: TaskError; readonly approved?: true };

/** What ends a task before its upstream does: its caller, its deadline, an operator. */
export type Stop = 'cancel' | 'expire' | 'fail';

/**
 * `n`: the attempt that it is about. `job`: the upstream's id of the job that was asked about; another one may be there by
 * now. `elapsedMs`: how long the work, or the pause, has lasted that the event ends, at least.
 */
export type TaskEvent =
  /** Nobody answered for this try of the creation, or it failed. */
  | { readonly kind: 'abandoned'; readonly tryId: string }
  /** Another try continues the creation. */
  | { readonly kind: 'taken_over'; readonly tryId: string }
  /** An earlier try of the creation took this hold. */
  | { readonly kind: 'held'; readonly hold: bigint }
  /** The task waits for something: its creation is over. */
  | { readonly kind: 'begun' }
  /** The configuration has none of these channels any more. */
  | { readonly kind: 'skipped'; readonly channels: readonly string[] }
  | {
      readonly kind: 'sending';
      readonly candidate: RouteCandidate;
      readonly owner: string;
      readonly marker: string;
      readonly terms?: CostTerms;
    }
  | {
      readonly kind: 'accepted';
      readonly n: number;
      readonly operation: Operation;
      readonly traceId?: string;
      /** The answer was the result: there is no job to be polled. */
      readonly outcome?: TaskOutcome;
    }
  | NotAccepted
  | Rejected
  /** `owner` absent: a later run of the submission found it in flight. */
  | {
      readonly kind: 'lost';
      readonly n: number;
      readonly owner?: string;
      readonly code: string;
      readonly message?: string;
      readonly taken?: true;
    }
  /** The upstream cannot say what became of the lost attempt. */
  | { readonly kind: 'asked' }
  /** The pause is over, or an operator wants it tried now. */
  | { readonly kind: 'resumed'; readonly elapsedMs?: number }
  /** The upstream has begun to render. */
  | { readonly kind: 'rendering'; readonly n: number; readonly job?: string }
  | Polled
  | { readonly kind: 'broken'; readonly n: number; readonly job?: string; readonly code: string }
  /** `deadlineAt`: the one that has passed; if it was moved meanwhile, nothing is wanted. */
  | { readonly kind: 'wanted'; readonly stop: Stop; readonly deadlineAt?: number }
  /** What was wanted is possible: there is no job, or it was stopped. */
  | { readonly kind: 'stopped'; readonly n?: number; readonly job?: string }
  /** The upstream does not cancel the job. */
  | { readonly kind: 'unstoppable'; readonly n?: number; readonly job?: string }
  | { readonly kind: 'adopted'; readonly operation: Operation }
  | { readonly kind: 'undone' }
  | { readonly kind: 'resubmitted'; readonly channel?: string }
  /** `charge`: micro-units, as the operator saw them. */
  | {
      readonly kind: 'completed';
      readonly outcome: Extract<TaskOutcome, { kind: 'succeeded' }>;
      readonly charge: string;
    }
  | { readonly kind: 'extended'; readonly seconds: number }
  | ({ readonly kind: 'reviewed' } & Question)
  | { readonly kind: 'approved' }
  /** An operator did something that changes no state. */
  | { readonly kind: 'acted' }
  /** The workflow of the task is closed. */
  | { readonly kind: 'orphaned' }
  | Ended;

/** `n` absent: nothing was begun. */
interface Refused {
  readonly n?: number;
  readonly owner?: string;
  readonly code: string;
  readonly message: string;
  readonly elapsedMs?: number;
}

/** Certainly not. `stays`: the same channel is asked again. `full`: it had no room. `retryAfterMs`: it named this time. */
interface NotAccepted extends Refused {
  readonly kind: 'not_accepted';
  /** The task's wait if no other channel is asked at once. */
  readonly wait?: NewWait;
  readonly candidate: RouteCandidate;
  readonly stays: boolean;
  readonly full?: true;
  readonly retryAfterMs?: number;
}

/** The request itself; or, where nothing was begun, what is needed to send it is gone. */
interface Rejected extends Refused, SaidOfFailure {
  readonly kind: 'rejected';
  readonly failure?: Failure;
}

/**
 * The upstream has ended the job. `unbilled`: it charges nothing for it, so that it may be replaced by another one.
 * `job`: its id there; an operator may have given the attempt another one since it was asked about.
 */
interface Polled {
  readonly kind: 'polled';
  readonly n: number;
  readonly job?: string;
  readonly outcome: TaskOutcome;
  readonly unbilled: boolean;
  readonly traceId?: string;
  readonly elapsedMs?: number;
}

/** The ledger has decided. `charge` in micro-units. */
interface Ended {
  readonly kind: 'ended';
  readonly status: 'succeeded' | 'failed';
  readonly charge: bigint;
  readonly chargeEstimated: boolean;
  /** What it cost its operator; absent: the task had ended in the ledger before. */
  readonly upstream?: UpstreamCost;
  readonly error?: TaskError;
}

export type EventName = TaskEvent['kind'];
export type EventOf<Name extends EventName> = Extract<TaskEvent, { readonly kind: Name }>;
export type StateOf<Name extends StateName> = Extract<TaskState, { readonly at: Name }>;

export function sameCandidate(a: RouteCandidate, b: RouteCandidate): boolean {
  return a.channel === b.channel && a.credential === b.credential;
}

/** The attempt that a state is about, if it is about one. */
export function attemptAt(state: TaskState, attempts: readonly Attempt[]): Attempt | undefined {
  return 'n' in state ? attempts.find(({ n }) => n === state.n) : undefined;
}

/** What everybody may see of an attempt. */
export interface ShownAttempt extends Pick<Attempt, 'n' | 'channel' | 'credential' | 'marker' | 'adopted'> {
  readonly upstreamId?: string;
}

/** The attempt that the state is about, else the last one. */
export function shownAttempt({
  state,
  attempts,
}: Pick<Task, 'state' | 'attempts'>): ShownAttempt | undefined {
  const attempt = attemptAt(state, attempts) ?? attempts.at(-1);
  if (attempt === undefined) return undefined;
  const { n, channel, credential, marker, adopted, operation } = attempt;
  return { n, channel, credential, marker, ...defined({ adopted, upstreamId: operation?.id }) };
}

/** The upstream has the job that the state names, and is asked about it. */
export function isPolled(state: TaskState): state is StateOf<'waiting' | 'stopping'> {
  return state.at === 'waiting' || state.at === 'stopping';
}

/** The upstream has the job that the state names. */
export function hasJob(state: TaskState): state is StateOf<'waiting' | 'stopping' | 'broken'> {
  return isPolled(state) || state.at === 'broken';
}

/** The answer to the attempt that the state names is lost. */
export function isLost(state: TaskState): state is StateOf<'searching' | 'asking'> {
  return state.at === 'searching' || state.at === 'asking';
}

/** The next channel of a round is to be asked, and nothing is in flight. */
export function isIdle(state: TaskState): state is StateOf<'creating' | 'queued'> {
  return state.at === 'creating' || state.at === 'queued';
}

/** The task is being submitted, or will be. */
export function isSubmitting(state: TaskState): state is StateOf<'creating' | 'queued' | 'sending'> {
  return isIdle(state) || state.at === 'sending';
}

/** Returns the stop that ends the task once its upstream has answered. */
export function stopOf(state: TaskState): Stop | undefined {
  return 'stop' in state ? state.stop : undefined;
}

export function isUnfinished({ at }: TaskState): boolean {
  return at !== 'ended';
}

/** It never was a task. */
export function isAbandoned(state: TaskState): boolean {
  return state.at === 'ended' && state.abandoned !== undefined;
}
