import type { Operation } from '../src/providers/provider.ts';
import type { Fallback } from '../src/domain/rescue.ts';
import type { FailureClass } from '../src/domain/failure.ts';
import type { RouteCandidate } from '../src/domain/routing.ts';
import type { AttentionReason } from '../src/domain/attention.ts';
import type { PriceBasis } from '../src/domain/price.ts';
import type { TaskActionRecord } from '../src/domain/task-record.ts';
import type { TaskInput, TaskResult } from '../src/domain/task-input.ts';
import type { SettleFacts, TaskError, TaskKind } from '../src/domain/task.ts';

/**
 * What passes between the workflow and its activities: ids and small facts, JSON-safe. Versions and amounts are decimal
 * strings.
 */

export interface TaskActivities {
  /** Makes the task the workflow's own. Repeatable. */
  claimTask(input: TaskInput, version: string): Promise<Claim>;
  /** The job of the n-th submission, if its upstream has accepted it. */
  findJob(task: string, n: number): Promise<AcceptedJob | undefined>;
  /** Settles or releases, then writes the terminal projection. Repeatable. */
  finishTask(finish: FinishTask): Promise<FinishedTask>;
  /** Makes the first request of a callback, unless others might have to wait for it. Never throws. */
  firstCallback(task: string): Promise<FirstCallback>;
  noteAttention(task: string, reason: AttentionReason | LostJob | undefined, version: string): Promise<void>;
  /** Writes who acted, when and why. Repeatable: a record's id is written once. */
  recordAction(task: string, record: TaskActionRecord): Promise<void>;
  moveDeadline(task: string, deadlineAt: number): Promise<void>;
  /** Ends the back-off of the task's activity. False: it is with a worker at this moment, or there is none. */
  wakeTask(task: string, activity: string): Promise<boolean>;
  /** Repairs what a terminated or deleted workflow left behind. */
  reconcileTasks(): Promise<ReconcileReport>;
}

/** Where the job may be whose submission was not answered. */
export interface LostJob extends RouteCandidate {
  readonly reason: AttentionReason;
}

/** What a workflow finds at its start. */
export type Claim =
  | { readonly state: 'open' }
  /** An earlier run of the workflow has submitted the job. */
  | { readonly state: 'accepted'; readonly attempts: number; readonly job: AcceptedJob }
  | { readonly state: 'ended'; readonly result: TaskResult }
  /** Nothing is held for the task any more. */
  | { readonly state: 'not_held' }
  /** The task does not exist, and its creator knows it. */
  | { readonly state: 'given_up' };

export interface AcceptedJob {
  readonly candidate: RouteCandidate;
  readonly operation: Operation;
  /** Unix milliseconds. */
  readonly acceptedAt: number;
}

export interface ChannelActivities {
  submit(input: SubmitInput): Promise<SubmitResult>;
  /** Looks up the job of a submission whose response was lost, and adopts it. */
  findLostJob(input: SubmitInput): Promise<SubmitResult>;
  poll(input: PollInput): Promise<PollResult>;
  cancelUpstream(input: OperationInput): Promise<'cancelled' | 'refused'>;
  /** Asks the upstream whether it has the job that an operator names, and gives it to the task. Repeatable. */
  adoptJob(input: AdoptInput): Promise<Adopted | Refused>;
  /** Records a result that an operator gives. Repeatable. */
  completeTask(input: CompleteInput): Promise<Completed | Refused>;
  /** Takes an adopted job back, unless it has ended. Repeatable. */
  undoAdoption(input: UndoInput): Promise<{ readonly kind: 'undone' } | Refused>;
}

/** Nothing was changed. `message`: a sentence for the operator. */
export interface Refused {
  readonly kind: 'refused';
  readonly message: string;
}

export interface AdoptInput extends SubmitInput {
  /** The upstream job that the operator says is ours. */
  readonly adopt: string;
  readonly dryRun: boolean;
}

export interface Adopted {
  readonly kind: 'adopted';
  readonly operation: Operation;
  /** As the upstream reports it now. */
  readonly state: 'pending' | 'succeeded' | 'failed';
}

export interface CompleteInput {
  readonly task: string;
  readonly kind: TaskKind;
  readonly model: string;
  readonly candidate: RouteCandidate;
  readonly url: string;
  readonly facts: SettleFacts;
  readonly held: string;
  readonly basis: PriceBasis;
  /** The attempt whose late answer must not become the task's job. */
  readonly abandon?: number;
  readonly dryRun: boolean;
}

/** `charge` in micro-units. */
export interface Completed {
  readonly kind: 'completed';
  readonly charge: string;
}

export interface UndoInput {
  readonly task: string;
  readonly n: number;
  readonly upstreamId: string;
  readonly dryRun: boolean;
}

export interface CallbackActivities {
  /**
   * Delivers the callback of a task that has ended, unless this round has already delivered it.
   *
   * @param round - Names the series of attempts: absent for the task's own, the run for one on demand.
   * @param dueAt - Unix milliseconds: what was sent before is not repeated sooner.
   */
  deliverCallback(task: string, round?: string, dueAt?: number): Promise<void>;
}

/** `pending`: the activity continues, not before `dueAt` (Unix milliseconds) if a request has left. */
export type FirstCallback =
  | { readonly state: 'delivered' | 'gave_up' }
  | { readonly state: 'pending'; readonly dueAt?: number };

export interface SubmitInput {
  readonly task: string;
  readonly account: string;
  readonly kind: TaskKind;
  /** Number of the attempt, from 1: `<task>:<n>` is its record. */
  readonly n: number;
  readonly model: string;
  readonly candidate: RouteCandidate;
  /** The whole plan. */
  readonly candidates: readonly RouteCandidate[];
  readonly deadlineAt: number;
  readonly version: string;
  /** Wait this long for the channel to accept before saying that it does not; 0 where another channel comes next. */
  readonly persistMs: number;
  /** Candidates that had no room when this round asked them: waiting here ends as soon as one of them has. */
  readonly full?: readonly RouteCandidate[];
  /** Where the task may continue if the submission is rejected. */
  readonly fallback?: Fallback;
  /** In place of a job that failed, or of a submission that was rejected. */
  readonly replaces?: true;
  /** The activity waits for the end of the job, too. */
  readonly attend?: {
    readonly expectedSeconds: number;
    readonly version: string;
    /** As in `PollInput`. */
    readonly output: string;
  };
}

export type SubmitResult =
  /** `candidate`: where the job is, if that is not the candidate that was asked for (an earlier attempt's job). */
  | {
      readonly kind: 'accepted';
      readonly operation: Operation;
      readonly candidate?: RouteCandidate;
      /** Unix milliseconds; absent: at this moment. */
      readonly acceptedAt?: number;
      /** What the activity saw of the job's end; absent: it has not waited for it. */
      readonly polled?: AttendedPoll;
    }
  | { readonly kind: 'not_accepted'; readonly code: string }
  /** `next`: the channels at which the task continues; absent: it has failed. */
  | { readonly kind: 'rejected'; readonly code: string; readonly next?: readonly RouteCandidate[] }
  | { readonly kind: 'ambiguous'; readonly code: string };

export interface OperationInput {
  readonly task: string;
  readonly kind: TaskKind;
  readonly model: string;
  readonly candidate: RouteCandidate;
  readonly operation: Operation;
}

export interface PollInput extends OperationInput {
  readonly acceptedAt: number;
  readonly deadlineAt: number;
  readonly expectedSeconds: number;
  /** As `renderedOutput` names it. */
  readonly output: string;
  readonly version: string;
  /** The final poll at the deadline: asks once and reports what it saw. */
  readonly last: boolean;
  /** Where the task may continue if the job fails; never with `last`. */
  readonly fallback?: Fallback;
}

export type PollResult =
  | { readonly kind: 'succeeded'; readonly facts: SettleFacts }
  /** `next`: the job is closed, and the task continues at these channels. Absent: the task has failed. */
  | { readonly kind: 'failed'; readonly next?: readonly RouteCandidate[] }
  | { readonly kind: 'unfinished' };

/** `broken`: with an error that retrying will not fix. */
export type AttendedPoll = PollResult | 'broken';

export interface FinishTask {
  readonly task: string;
  readonly account: string;
  /** Absent: the key has no limit on unfinished tasks. */
  readonly key?: string;
  readonly held: string;
  readonly basis: PriceBasis;
  readonly version: string;
  readonly outcome: FinishOutcome;
  /** A charge far above the hold is not settled but reported. Absent: nobody can be asked, or somebody accepted it. */
  readonly review?: 'possible';
  /** The job may be another than the first: then nothing above the hold is charged. */
  readonly hasFallback?: true;
}

export type FinishOutcome =
  | {
      readonly kind: 'succeeded';
      readonly candidate: RouteCandidate;
      readonly model: string;
      readonly facts: SettleFacts;
    }
  /** `error` absent: the poll or submission wrote down the upstream's own words. */
  | { readonly kind: 'failed'; readonly error?: TaskError };

/** How a task has ended, without what it delivered. */
export type TaskEnding =
  | { readonly kind: 'succeeded' }
  | { readonly kind: 'failed'; readonly error?: Pick<TaskError, 'code'> };

/** `instead`: the ledger had been closed the other way before, and the task ended so, and not with its outcome. */
export type FinishedTask =
  /** `failure`: of a task that failed. */
  | { readonly charge: string; readonly failure?: FailureClass; readonly instead?: TaskEnding }
  /** Nothing has ended: the charge would be this, and a person decides. */
  | { readonly review: string };

export interface ReconcileReport {
  readonly checked: number;
  readonly repaired: number;
  /** Could not be repaired this time. */
  readonly failed: number;
  /** By step, how many things were repaired. */
  readonly upkeep: Readonly<Record<string, number>>;
}
