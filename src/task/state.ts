import type { Attempt, Operation } from './attempt.ts';
import type { CostTerms } from '../money/cost-terms.ts';
import { defined } from '../base/defined.ts';
import { namesOf } from '../base/names-of.ts';
import type { Failure } from '../errors/failure.ts';
import type { RouteCandidate } from './candidates.ts';
import type { UpstreamCost } from './cost.ts';
import type { Task, TaskOutcome } from './record.ts';
import type { SaidOfFailure, TaskError } from './task.ts';
import type { NewWait } from './wait.ts';

export type TaskState =
  /**
   * `tryId` has the form `<padded time>-<random>`. If the request is repeated, each attempt at the creation has its
   * own.
   */
  | (Round & { readonly at: 'creating'; readonly tryId: string })
  /** The round's first channel is tried as soon as possible. */
  | (Round & { readonly at: 'queued' })
  /**
   * The submission of attempt `n` may have been sent. If `stop` is set, the task ends unless the response contains a
   * result.
   */
  | (Round & { readonly at: 'sending'; readonly n: number; readonly stop?: Stop })
  /**
   * No channel accepted the task. The next round begins `ms` milliseconds after the workflow learns of the pause.
   * `until` is the same time by the writing process's clock, for display only.
   */
  | (Pick<Round, 'round' | 'full'> & {
      readonly at: 'pausing';
      readonly ms: number;
      readonly until: number;
    })
  /**
   * The response to attempt `n` was lost, so the upstream is searched for its job. If `stop` is set, the task ends
   * afterwards.
   */
  | (Lost & { readonly at: 'searching'; readonly stop?: Exclude<Stop, 'cancel'> })
  | (Lost & { readonly at: 'asking' })
  | { readonly at: 'waiting'; readonly n: number }
  /** The upstream has been asked to stop the job. `code` is the error that had already stopped the polling, if any. */
  | { readonly at: 'stopping'; readonly n: number; readonly stop: Stop; readonly code?: string }
  /** Polling failed with an error that a retry cannot fix, so an operator must decide. */
  | { readonly at: 'broken'; readonly n: number; readonly code: string }
  | { readonly at: 'ending'; readonly ending: Ending }
  /** The outcome is decided, but an operator must confirm it before it is written. */
  | ({ readonly at: 'review' } & Question)
  /**
   * If `abandoned` is set, the creation failed. To its caller, the task never existed, and the record will be removed.
   */
  | { readonly at: 'ended'; readonly abandoned?: string };

/** `left` lists the channels that have yet to be tried in this round. The first one is the current channel. */
export interface Round {
  readonly round: number;
  readonly left: readonly RouteCandidate[];
  readonly full: readonly RouteCandidate[];
  /** Set if the round replaces a failed or rejected job. Each channel is then tried only once. */
  readonly replaces?: true;
}

/** `taken` means that the upstream returned the id of a job that belongs to another task. */
interface Lost {
  readonly n: number;
  readonly code: string;
  readonly taken?: true;
}

export type StateName = TaskState['at'];

/** Each description must fit into the middle of a sentence. */
export const stateWords: Readonly<Record<StateName, string>> = {
  creating: 'the task is being created',
  queued: 'the task is waiting to be submitted',
  sending: 'the task is being submitted',
  pausing: 'the task is waiting until a channel accepts it',
  searching: 'the gateway is searching the upstream for the job',
  asking: 'it is not known whether the upstream has the job',
  waiting: 'the upstream has the job',
  stopping: 'the upstream is being asked to end the job',
  broken: 'polling has stopped with an error that retrying will not fix',
  ending: 'the end of the task is being recorded',
  review: 'the task’s charge awaits a decision',
  ended: 'the task has ended',
};

export const stateNames = namesOf(stateWords);

/** A question for an operator. `charge` is in micro-units. */
export type Question =
  | { readonly why: ChargeQuestion; readonly charge: string }
  /** The job succeeded, but its charge cannot be computed or contradicts the ledger. */
  | { readonly why: 'unsettled' }
  /** The task fails, but releasing its hold contradicts the ledger. */
  | { readonly why: 'unreleased'; readonly error?: TaskError };

/**
 * - `above_hold`: far more than the hold.
 * - `beyond_request`: more than the request and its model allow.
 * - `contradictory`: the upstream's figures are inconsistent or impossible.
 * - `unwritable`: too large for the ledger, so nobody can accept it.
 */
export type ChargeQuestion = 'above_hold' | 'beyond_request' | 'contradictory' | 'unwritable';

/**
 * `approved` is set once an operator has decided or no decision is needed any more. `accepted` is the highest charge
 * that an operator has approved, in micro-units. A failed task without `error` gets the upstream's own message.
 */
export type Ending =
  | { readonly kind: 'succeeded'; readonly approved?: true; readonly accepted?: string }
  | { readonly kind: 'failed'; readonly error?: TaskError; readonly approved?: true };

/** A task is stopped by its caller (`cancel`), its deadline (`expire`) or an operator (`fail`). */
export type Stop = 'cancel' | 'expire' | 'fail';

/**
 * `n` is the number of the attempt that the event belongs to. `job` is the upstream's id of the job that was polled,
 * because an operator may have assigned a different job since. `elapsedMs` is the minimum duration of the step or pause
 * that the event ends.
 */
export type TaskEvent =
  /** The process that was creating the task failed or died. */
  | { readonly kind: 'abandoned'; readonly tryId: string }
  /** A repeated request has taken over the creation. */
  | { readonly kind: 'taken_over'; readonly tryId: string }
  | { readonly kind: 'held'; readonly hold: bigint }
  /**
   * The task is waiting before its first submission. This proves that its workflow has started, so its creation is
   * complete.
   */
  | { readonly kind: 'begun' }
  | { readonly kind: 'skipped'; readonly channels: readonly string[] }
  | {
      readonly kind: 'sending';
      readonly candidate: RouteCandidate;
      readonly owner: string;
      readonly marker: string;
      readonly terms?: CostTerms;
      readonly inputSeconds?: number;
    }
  | {
      readonly kind: 'accepted';
      readonly n: number;
      readonly operation: Operation;
      readonly traceId?: string;
      /** Set if the response contained the result, so there is no job to poll. */
      readonly outcome?: TaskOutcome;
    }
  | NotAccepted
  | Rejected
  | {
      readonly kind: 'lost';
      readonly n: number;
      readonly owner?: string;
      readonly code: string;
      readonly message?: string;
      readonly taken?: true;
    }
  /** The upstream cannot say what happened to the lost attempt, so an operator must decide. */
  | { readonly kind: 'asked' }
  | { readonly kind: 'resumed'; readonly elapsedMs?: number }
  | { readonly kind: 'rendering'; readonly n: number; readonly job?: string }
  | Polled
  | { readonly kind: 'broken'; readonly n: number; readonly job?: string; readonly code: string }
  | { readonly kind: 'wanted'; readonly stop: Stop }
  | { readonly kind: 'stopped'; readonly n?: number; readonly job?: string }
  | { readonly kind: 'unstoppable'; readonly n?: number; readonly job?: string }
  | { readonly kind: 'adopted'; readonly operation: Operation }
  | { readonly kind: 'undone' }
  | { readonly kind: 'resubmitted'; readonly channel?: string }
  /** `charge` is the amount that the operator saw when accepting it, in micro-units. */
  | {
      readonly kind: 'completed';
      readonly outcome: Extract<TaskOutcome, { kind: 'succeeded' }>;
      readonly charge: string;
    }
  | { readonly kind: 'extended'; readonly seconds: number }
  | ({ readonly kind: 'reviewed' } & Question)
  | { readonly kind: 'approved' }
  | { readonly kind: 'acted' }
  /** The task's workflow has closed without ending the task. */
  | { readonly kind: 'orphaned' }
  | Ended;

/** `n` is absent if no attempt had begun. */
interface Refused {
  readonly n?: number;
  readonly owner?: string;
  readonly code: string;
  readonly message: string;
  readonly elapsedMs?: number;
}

/**
 * The upstream did not accept the submission. `stays` means that the same channel is retried, `full` that the channel
 * had no capacity. `retryAfterMs` is the delay that the upstream asked for.
 */
interface NotAccepted extends Refused {
  readonly kind: 'not_accepted';
  /** The reason for waiting. Absent if another channel is tried immediately. */
  readonly wait?: NewWait;
  readonly candidate: RouteCandidate;
  readonly stays: boolean;
  readonly full?: true;
  readonly retryAfterMs?: number;
}

/**
 * The upstream rejected the request itself. If no attempt had begun, the request could not be sent, because its data
 * was gone or the length of an input video could not be read.
 */
interface Rejected extends Refused, SaidOfFailure {
  readonly kind: 'rejected';
  readonly failure?: Failure;
}

/**
 * `unbilled` means that the job costs nothing, so another job may replace it. `job` is the id of the job that was
 * polled, because an operator may have assigned a different one since.
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

/** The ledger has decided how the task ends. `charge` is in micro-units. */
interface Ended {
  readonly kind: 'ended';
  readonly status: 'succeeded' | 'failed';
  readonly charge: bigint;
  readonly chargeEstimated: boolean;
  /** Absent if the ledger had already closed the task. */
  readonly upstream?: UpstreamCost;
  readonly error?: TaskError;
}

export type EventName = TaskEvent['kind'];
export type EventOf<Name extends EventName> = Extract<TaskEvent, { readonly kind: Name }>;
export type StateOf<Name extends StateName> = Extract<TaskState, { readonly at: Name }>;

export function sameCandidate(a: RouteCandidate, b: RouteCandidate): boolean {
  return a.channel === b.channel && a.credential === b.credential;
}

export function attemptAt(state: TaskState, attempts: readonly Attempt[]): Attempt | undefined {
  return 'n' in state ? attempts.find(({ n }) => n === state.n) : undefined;
}

export interface ShownAttempt extends Pick<Attempt, 'n' | 'channel' | 'credential' | 'marker' | 'adopted'> {
  readonly upstreamId?: string;
}

/** Returns the last attempt if the state does not name one. */
export function shownAttempt(task: Pick<Task, 'state' | 'attempts'>): ShownAttempt | undefined {
  const { state, attempts } = task;
  const attempt = attemptAt(state, attempts) ?? attempts.at(-1);
  if (attempt === undefined) return undefined;
  const { n, channel, credential, marker, adopted, operation } = attempt;
  return { n, channel, credential, marker, ...defined({ adopted, upstreamId: operation?.id }) };
}

export function isPolled(state: TaskState): state is StateOf<'waiting' | 'stopping'> {
  return state.at === 'waiting' || state.at === 'stopping';
}

export function hasJob(state: TaskState): state is StateOf<'waiting' | 'stopping' | 'broken'> {
  return isPolled(state) || state.at === 'broken';
}

export function isLost(state: TaskState): state is StateOf<'searching' | 'asking'> {
  return state.at === 'searching' || state.at === 'asking';
}

export function isIdle(state: TaskState): state is StateOf<'creating' | 'queued'> {
  return state.at === 'creating' || state.at === 'queued';
}

export function isSubmitting(state: TaskState): state is StateOf<'creating' | 'queued' | 'sending'> {
  return isIdle(state) || state.at === 'sending';
}

/** Returns the stop that is waiting for the upstream's response. */
export function stopOf(state: TaskState): Stop | undefined {
  return 'stop' in state ? state.stop : undefined;
}

export function isUnfinished({ at }: TaskState): boolean {
  return at !== 'ended';
}

export function isAbandoned(state: TaskState): boolean {
  return state.at === 'ended' && state.abandoned !== undefined;
}
