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

/** Only `next` (next.ts) changes the state, and the state determines what the workflow does. */
export type TaskState =
  /** `tryId` identifies the try that is creating the task: `<padded time>-<random>`. */
  | (Round & { readonly at: 'creating'; readonly tryId: string })
  /** The round's first channel will be tried as soon as possible. */
  | (Round & { readonly at: 'queued' })
  /** The request of attempt `n` may have been sent. `stop` ends the task unless the response contains a result. */
  | (Round & { readonly at: 'sending'; readonly n: number; readonly stop?: Stop })
  /**
   * No channel in the plan accepted the task. The next round begins `ms` milliseconds after the workflow learns of the
   * pause. `until` is that time by the writing process's clock, for display.
   */
  | (Pick<Round, 'round' | 'full'> & {
      readonly at: 'pausing';
      readonly ms: number;
      readonly until: number;
    })
  /**
   * The response to attempt `n` was lost, and the upstream is being searched for the job. `stop` ends the task
   * afterwards.
   */
  | (Lost & { readonly at: 'searching'; readonly stop?: Exclude<Stop, 'cancel'> })
  /** The search found nothing, or the upstream cannot be searched, so an operator is asked. */
  | (Lost & { readonly at: 'asking' })
  | { readonly at: 'waiting'; readonly n: number }
  /** The upstream has been asked to end the job. `code` is the error that had stopped polling. */
  | { readonly at: 'stopping'; readonly n: number; readonly stop: Stop; readonly code?: string }
  /** Polling stopped with an error that retrying will not fix, and an operator has been asked. */
  | { readonly at: 'broken'; readonly n: number; readonly code: string }
  | { readonly at: 'ending'; readonly ending: Ending }
  /** The outcome is decided, but an operator has been asked before it is written. */
  | ({ readonly at: 'review' } & Question)
  /** `abandoned`: this creation try was abandoned, so the task never existed and its record will be removed. */
  | { readonly at: 'ended'; readonly abandoned?: string };

/** `left`: the channels that this round has yet to try, in order, including the current one. */
export interface Round {
  readonly round: number;
  readonly left: readonly RouteCandidate[];
  readonly full: readonly RouteCandidate[];
  /** Set if the round replaces a failed or rejected job. Each channel is then tried once. */
  readonly replaces?: true;
}

/** `taken`: the upstream returned the id of another task's job. */
interface Lost {
  readonly n: number;
  readonly code: string;
  readonly taken?: true;
}

export type StateName = TaskState['at'];

/** Descriptions of the states. Each fits into the middle of a sentence. */
export const stateWords: Readonly<Record<StateName, string>> = {
  creating: 'the task is being created',
  queued: 'the task waits to be submitted',
  sending: 'the task is being submitted',
  pausing: 'the task waits until a channel accepts it',
  searching: 'the gateway is searching the upstream for the job',
  asking: 'it is not known whether the upstream has the job',
  waiting: 'the upstream has the job',
  stopping: 'the upstream is being asked to end the job',
  broken: 'polling has stopped with an error that retrying will not fix',
  ending: 'the task’s end is being written',
  review: 'the task’s charge waits for a decision',
  ended: 'the task has ended',
};

export const stateNames = namesOf(stateWords);

/** A question for an operator. `charge` is in micro-units. */
export type Question =
  | { readonly why: ChargeQuestion; readonly charge: string }
  /** The job succeeded, but its charge cannot be computed or contradicts the ledger. */
  | { readonly why: 'unsettled' }
  /** The task fails with this error, but releasing its hold contradicts the ledger. */
  | { readonly why: 'unreleased'; readonly error?: TaskError };

/**
 * `above_hold`: far more than the hold. `beyond_request`: more than the request and its model allow. `contradictory`:
 * the upstream's figures are inconsistent or impossible. `unwritable`: too large for the ledger, so it cannot be
 * accepted.
 */
export type ChargeQuestion = 'above_hold' | 'beyond_request' | 'contradictory' | 'unwritable';

/**
 * `approved`: an operator has decided, or no decision is needed any more. `accepted`: the maximum charge that an
 * operator has approved, in micro-units. Without `error`, the task fails with the upstream's own message.
 */
export type Ending =
  | { readonly kind: 'succeeded'; readonly approved?: true; readonly accepted?: string }
  | { readonly kind: 'failed'; readonly error?: TaskError; readonly approved?: true };

/**
 * What ends a task before its upstream does: the caller (`cancel`), the deadline (`expire`) or an operator (`fail`).
 */
export type Stop = 'cancel' | 'expire' | 'fail';

/**
 * Everything that can change a task's state. `n` is the attempt that an event concerns. `job` is the upstream id of the
 * job that it concerns, because the attempt's job may have been replaced in the meantime. `elapsedMs` is the minimum
 * duration of the work or pause that the event ends.
 */
export type TaskEvent =
  /** The creation try failed, or its process never reported an outcome. */
  | { readonly kind: 'abandoned'; readonly tryId: string }
  /** Another try has taken over creating the task. */
  | { readonly kind: 'taken_over'; readonly tryId: string }
  /** An earlier creation try took this hold. */
  | { readonly kind: 'held'; readonly hold: bigint }
  /** The task waits for something before its first submission. This ends its creation. */
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
      /** The response contained the result, so there is no job to poll. */
      readonly outcome?: TaskOutcome;
    }
  | NotAccepted
  | Rejected
  /** The attempt's outcome is unknown. `owner` is undefined if a later submission run found the attempt in flight. */
  | {
      readonly kind: 'lost';
      readonly n: number;
      readonly owner?: string;
      readonly code: string;
      readonly message?: string;
      readonly taken?: true;
    }
  /** The upstream cannot determine what happened to the lost attempt. */
  | { readonly kind: 'asked' }
  /** The pause is over, or an operator wants the task to be submitted now. */
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
  /** `charge` is what the operator has seen, in micro-units. */
  | {
      readonly kind: 'completed';
      readonly outcome: Extract<TaskOutcome, { kind: 'succeeded' }>;
      readonly charge: string;
    }
  | { readonly kind: 'extended'; readonly seconds: number }
  | ({ readonly kind: 'reviewed' } & Question)
  | { readonly kind: 'approved' }
  | { readonly kind: 'acted' }
  /** The task's workflow is closed. */
  | { readonly kind: 'orphaned' }
  | Ended;

/** If `n` is absent, no attempt had begun. */
interface Refused {
  readonly n?: number;
  readonly owner?: string;
  readonly code: string;
  readonly message: string;
  readonly elapsedMs?: number;
}

/**
 * The submission was definitely not accepted. `stays`: the same channel will be retried. `full`: the channel had no
 * capacity. `retryAfterMs`: the delay that the upstream requested.
 */
interface NotAccepted extends Refused {
  readonly kind: 'not_accepted';
  /** Absent if another channel is tried immediately. */
  readonly wait?: NewWait;
  readonly candidate: RouteCandidate;
  readonly stays: boolean;
  readonly full?: true;
  readonly retryAfterMs?: number;
}

/**
 * The upstream rejected the request itself. If no attempt had begun, the request cannot be sent: its data is gone, or
 * the length of an input video could not be read.
 */
interface Rejected extends Refused, SaidOfFailure {
  readonly kind: 'rejected';
  readonly failure?: Failure;
}

/**
 * The job has finished upstream. `unbilled`: the job costs nothing, so another job may replace it. `job`: the id of the
 * job that was polled. An operator may have assigned a different job since the poll began.
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

/** The attempt fields that callers and operators may see. */
export interface ShownAttempt extends Pick<Attempt, 'n' | 'channel' | 'credential' | 'marker' | 'adopted'> {
  readonly upstreamId?: string;
}

/** Returns the state's attempt or, if the state has none, the last one. */
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

/** Whether the round's next channel is due and nothing is in flight. */
export function isIdle(state: TaskState): state is StateOf<'creating' | 'queued'> {
  return state.at === 'creating' || state.at === 'queued';
}

export function isSubmitting(state: TaskState): state is StateOf<'creating' | 'queued' | 'sending'> {
  return isIdle(state) || state.at === 'sending';
}

/** Returns the pending stop, which takes effect once the upstream has responded. */
export function stopOf(state: TaskState): Stop | undefined {
  return 'stop' in state ? state.stop : undefined;
}

export function isUnfinished({ at }: TaskState): boolean {
  return at !== 'ended';
}

export function isAbandoned(state: TaskState): boolean {
  return state.at === 'ended' && state.abandoned !== undefined;
}
