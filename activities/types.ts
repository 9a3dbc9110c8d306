import type { ActionInput } from '../src/operating/act-fields.ts';
import type { ActionResult, RunningActionName } from '../src/operating/acts.ts';
import type { PriceBasis } from '../src/money/price.ts';
import type { RouteCandidate } from '../src/task/candidates.ts';
import type { TaskInput } from '../src/task/input.ts';
import type { Knowledge } from '../src/operating/advice.ts';
import type { Task } from '../src/task/record.ts';
import type { ShownAttempt, TaskEvent } from '../src/task/state.ts';
import type { TaskError } from '../src/task/task.ts';

/**
 * Data exchanged between the workflow and its activities: JSON-safe ids and small facts. Amounts are decimal strings.
 */

/**
 * The workflow's view of the task's record, returned by every activity that may change the record. Of two views, the
 * one with the higher `rev` is newer.
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
  /** The time until the deadline, by the clock that wrote it. Set only by `lookAtTask` and `stepTask`. */
  readonly remainingMs?: number;
} // prettier-ignore

/**
 * Activities on the workflow's own task queue, so that they never wait for a channel's queue. All are idempotent. `rev`
 * is the revision that the workflow knows. A process with an older cached record rereads it, so that the returned view
 * is never older than the workflow's.
 */
export interface TaskActivities {
  /** Rereads the record from the database. Removes unconfigured channels from the round. */
  lookAtTask(task: string, account: string): Promise<TaskView>;
  /**
   * Writes one of the workflow's own events, usually caused by the passage of time. A refusal changes nothing, and the
   * view shows the task's state.
   */
  stepTask(task: string, event: WorkflowEvent): Promise<TaskView>;
  /** Checks an operator's action or a caller's cancellation, and records it together with the change. */
  actOnTask(request: ActRequest): Promise<ActReply>;
  findLostJob(task: string, rev?: number): Promise<TaskView>;
  /**
   * Ends a job that is no longer wanted, or records that the upstream will not end it. At the deadline, an existing
   * result still counts.
   */
  stopJob(task: string, rev?: number): Promise<TaskView>;
  /** Settles or releases the hold, then writes the outcome or asks an operator about the charge. */
  finishTask(finish: FinishInput): Promise<TaskView>;
  /** Makes a callback's first request, unless that might delay others. Never throws. */
  firstCallback(task: string): Promise<FirstCallback>;
  wakeTask(task: string, activity: string): Promise<Woken>;
  /** Repairs what a terminated or deleted workflow left behind. */
  reconcileTasks(): Promise<ReconcileReport>;
}

/**
 * `busy`: a worker was already running an attempt. `begun`: a worker has started the new attempt. `not_begun`: no
 * worker has started it yet. `ended`: the activity is over.
 */
export type Woken =
  | { readonly kind: 'busy' | 'begun' | 'not_begun' | 'ended' }
  | { readonly kind: 'tried'; readonly ended: string };

/** Events caused only by the passage of time, the end of an activity, or other processes' observations. */
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
  /** The update's id, which ensures that an action is recorded only once. */
  readonly id: string;
  /** Unix milliseconds. */
  readonly at: number;
  /** Set for a caller's cancellation, for which no operator is recorded. */
  readonly isCallers?: true;
  /** Set if the workflow was cancelled with Temporal's own tools. The workflow's history shows who did it. */
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
   * @param round - Names the series of attempts. Absent for the task's own series, and the run's id for a requested
   * one.
   * @param waitMs - No request is made before this time has passed since the activity was scheduled. A duration, because
   * the clocks of Temporal and MongoDB may differ.
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
