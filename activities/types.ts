import type { ActionInput } from '../src/operating/act-fields.ts';
import type { ActionResult, RunningActionName } from '../src/operating/acts.ts';
import type { PriceBasis } from '../src/money/price.ts';
import type { RouteCandidate } from '../src/task/candidates.ts';
import type { TaskInput } from '../src/task/input.ts';
import type { Knowledge } from '../src/operating/advice.ts';
import type { Task } from '../src/task/record.ts';
import type { ShownAttempt, TaskEvent } from '../src/task/state.ts';
import type { TaskError } from '../src/task/task.ts';

/** Everything in this file is passed between the workflow and its activities as JSON. Amounts are decimal strings. */

/**
 * Every activity that may change the record returns this view. Of two views, the one with the higher `rev` is newer.
 */
export interface TaskView extends Knowledge, Pick<
  Task,
  | 'rev' | 'state' | 'stateSince' | 'deadlineAt' | 'status'
  | 'concern' | 'channel' | 'upstreamId' | 'wait'
> {
  readonly attempt?: ShownAttempt;
  /** In micro-units. */
  readonly charge?: string;
  readonly error?: Pick<TaskError, 'code' | 'class'>;
  /** The time left until the deadline, measured by the clock that set it. Only `lookAtTask` and `stepTask` set this. */
  readonly remainingMs?: number;
} // prettier-ignore

/**
 * These activities run on the workflow's own task queue, so they never wait for a channel. All of them are idempotent.
 * `rev` is the revision that the workflow knows. The result is not older, unless MongoDB was restored from a backup.
 */
export interface TaskActivities {
  /** Also removes from the round any channels that are no longer configured. */
  lookAtTask(task: string, account: string, rev?: number): Promise<TaskView>;
  /** If the event is refused, nothing changes, and the view shows the current state. */
  stepTask(task: string, event: WorkflowEvent): Promise<TaskView>;
  actOnTask(request: ActRequest): Promise<ActReply>;
  findLostJob(task: string, rev?: number): Promise<TaskView>;
  /** If the deadline has passed but the job already has a result, that result is used. */
  stopJob(task: string, rev?: number): Promise<TaskView>;
  /** Asks an operator if the charge cannot be computed or the ledger rejects it. */
  finishTask(finish: FinishInput): Promise<TaskView>;
  /** Sends the callback's first request, unless that might delay other tasks. Never throws. */
  firstCallback(task: string): Promise<FirstCallback>;
  wakeTask(task: string, activity: string): Promise<Woken>;
  reconcileTasks(): Promise<ReconcileReport>;
}

/**
 * - `busy`: a worker was already running an attempt.
 * - `begun`: a worker has started the new attempt.
 * - `not_begun`: no worker has started it yet.
 * - `ended`: the activity is over.
 */
export type Woken =
  | { readonly kind: 'busy' | 'begun' | 'not_begun' | 'ended' }
  | { readonly kind: 'tried'; readonly ended: string };

/**
 * Events that need no external information: time has passed, an activity has ended, or another process has reported
 * something.
 */
export type WorkflowEvent = Extract<
  TaskEvent,
  { kind: 'wanted' | 'stopped' | 'unstoppable' | 'resumed' | 'asked' | 'lost' | 'skipped' }
>;

export interface FinishInput extends Pick<TaskInput, 'task' | 'basis' | 'keyUnlimited'> {
  readonly rev?: number;
}

export interface ActRequest {
  readonly task: string;
  readonly action: RunningActionName;
  readonly input: ActionInput;
  /** The id of the Temporal update. An action with the same id is recorded only once. */
  readonly id: string;
  /** Unix milliseconds. */
  readonly at: number;
  /** Set for a caller's cancellation, which has no operator. */
  readonly isCallers?: true;
  /** Set if the workflow was cancelled with Temporal's own tools. Its history shows who did it. */
  readonly isCancelRequest?: true;
  readonly currency: string;
  readonly basis: PriceBasis;
}

export type ActReply =
  | { readonly done: true; readonly view: TaskView; readonly said: ActionResult }
  | { readonly done: false; readonly message: string };

export interface ChannelActivities {
  /** Submits once, then waits for the job to end, as `poll` does. */
  submit(input: SubmitInput): Promise<TaskView>;
  poll(input: PollInput): Promise<TaskView>;
}

export interface SubmitInput extends PollInput {
  readonly candidate: RouteCandidate;
}

export interface PollInput {
  readonly task: string;
  readonly rev?: number;
  readonly expectedSeconds: number;
}

export interface CallbackActivities {
  /**
   * Delivers an ended task's callback, unless this round has already delivered it.
   * @param round - Identifies the series of attempts. Absent for the task's own series. A requested redelivery uses the
   * run's id.
   * @param waitMs - No request is made before this time has passed since the activity was scheduled. A duration,
   * because the clocks of Temporal and MongoDB may differ.
   */
  deliverCallback(task: string, round?: string, waitMs?: number): Promise<void>;
}

/**
 * `pending`: the activity continues the delivery. If a request has already been sent, the activity waits for
 * `waitMs` first.
 */
export type FirstCallback =
  | { readonly state: 'delivered' | 'gave_up' }
  | { readonly state: 'pending'; readonly waitMs?: number };

export interface ReconcileReport {
  readonly checked: number;
  readonly repaired: number;
  readonly failed: number;
  readonly upkeep: Readonly<Record<string, number>>;
}
