import type { Attempt, Operation } from './attempt.ts';
import type { CostTerms } from '../money/cost-terms.ts';
import { defined } from '../base/defined.ts';
import type { Failure } from '../errors/failure.ts';
import type { RouteCandidate } from './candidates.ts';
import type { UpstreamCost } from './cost.ts';
import type { Task, TaskOutcome } from './record.ts';
import type { TaskError } from './task.ts';

/**
 * Where a task stands, and everything that can happen to it. `next` (next.ts) is the only way from one state to
 * another; the workflow does what the state asks for.
 */
export type TaskState =
  /**
   * A channel is asked, or will be as soon as it may. `left`: to be asked in this round, in order. `full`: had no room
   * when this round asked them. `replaces`: in place of a job that failed, or was rejected; each channel is asked once.
   */
  | (Round & {
      readonly at: 'submitting';
      readonly left: readonly RouteCandidate[];
      readonly replaces?: true;
    })
  /**
   * No channel of the plan accepts the task; the round after this one begins `ms` after the workflow has learned of the
   * pause. `until`: the same by the clock of whoever wrote it, for people.
   */
  | (Round & { readonly at: 'pausing'; readonly ms: number; readonly until: number })
  /**
   * The answer to this attempt is lost. `asked`: the upstream could not say, and a person was asked. `taken`: it named a
   * job that another task has.
   */
  | {
      readonly at: 'lost';
      readonly n: number;
      readonly code: string;
      readonly asked: boolean;
      readonly taken?: true;
    }
  /** The upstream has the job of this attempt. */
  | { readonly at: 'waiting'; readonly n: number }
  /** Polling stopped with an error that retrying will not fix; a person is asked. */
  | { readonly at: 'broken'; readonly n: number; readonly code: string }
  /** How it ends is decided; the money and the end are being written. */
  | { readonly at: 'ending'; readonly ending: Ending }
  /** How it ends is decided, and a person is asked before it is written. */
  | ({ readonly at: 'review' } & Question)
  | { readonly at: 'ended' }
  /** Its creation was abandoned: it never was a task, and its record is about to be removed. */
  | { readonly at: 'given_up' };

interface Round {
  /** From 1. */
  readonly round: number;
  readonly full: readonly RouteCandidate[];
}

export type StateName = TaskState['at'];

export const stateNames = [
  'submitting', 'pausing', 'lost', 'waiting', 'broken', 'ending', 'review', 'ended', 'given_up',
] as const satisfies readonly StateName[]; // prettier-ignore

/** For people: the rest of a sentence. */
export const stateWords: Readonly<Record<StateName, string>> = {
  submitting: 'the task is being submitted',
  pausing: 'the task waits until a channel accepts it',
  lost: 'it is not known whether the upstream has the job',
  waiting: 'the upstream has the job',
  broken: 'polling has stopped with an error that retrying will not fix',
  ending: 'the end of the task is being written',
  review: 'what the task is charged waits for a decision',
  ended: 'the task has ended',
  given_up: 'the creation was abandoned',
};

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
  | { readonly kind: 'abandoned'; readonly unstarted: string }
  /** Another try continues the creation. */
  | { readonly kind: 'taken_over'; readonly unstarted: string }
  /** An earlier try of the creation took this hold. */
  | { readonly kind: 'held'; readonly hold: bigint }
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
  /** Its workflow is gone. */
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
  readonly candidate: RouteCandidate;
  readonly stays: boolean;
  readonly full?: true;
  readonly retryAfterMs?: number;
}

/** The request itself; or, where nothing was begun, what is needed to send it is gone. */
interface Rejected extends Refused {
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

/** The submission that is in flight: its answer must be read before anything else is decided. */
export function attemptInFlight(attempts: readonly Attempt[]): Attempt | undefined {
  return attempts.find(({ state }) => state === 'sending');
}

/** What everybody may see of an attempt. */
export interface ShownAttempt extends Pick<Attempt, 'n' | 'channel' | 'credential' | 'marker' | 'adopted'> {
  readonly upstreamId?: string;
}

/** The attempt that the state is about, else the one in flight, else the last one. */
export function shownAttempt({
  state,
  attempts,
}: Pick<Task, 'state' | 'attempts'>): ShownAttempt | undefined {
  const attempt = attemptAt(state, attempts) ?? attemptInFlight(attempts) ?? attempts.at(-1);
  if (attempt === undefined) return undefined;
  const { n, channel, credential, marker, adopted, operation } = attempt;
  return { n, channel, credential, marker, ...defined({ adopted, upstreamId: operation?.id }) };
}

/** The upstream has the job that the state names. */
export function hasJob(state: TaskState): state is StateOf<'waiting' | 'broken'> {
  return state.at === 'waiting' || state.at === 'broken';
}

export function isUnfinished({ at }: TaskState): boolean {
  return at !== 'ended' && at !== 'given_up';
}
