import type { ActionInput } from '../src/task/act-fields.ts';
import type { ActionResult, RunningActionName } from '../src/task/acts.ts';
import type { PriceBasis } from '../src/money/price.ts';
import type { RouteCandidate } from '../src/task/candidates.ts';
import type { TaskInput } from '../src/task/input.ts';
import type { Task } from '../src/task/record.ts';
import type { ShownAttempt, TaskEvent } from '../src/task/state.ts';
import type { TaskError } from '../src/task/task.ts';

/** What passes between the workflow and its activities: ids and small facts, JSON-safe. Amounts are decimal strings. */

/**
 * What the workflow knows of the task's record. Every activity that may change the record answers with it; of two views
 * the one with the higher `rev` is the newer.
 */
export interface TaskView extends Pick<
  Task,
  | 'rev' | 'state' | 'stateSince' | 'deadlineAt' | 'status'
  | 'concern' | 'channel' | 'upstreamId' | 'wait'
> {
  readonly attempt?: ShownAttempt;
  /** Micro-units. */
  readonly charge?: string;
  readonly error?: Pick<TaskError, 'code' | 'class'>;
} // prettier-ignore

/**
 * Run where the workflow runs: nothing of it waits for a channel's queue. Each is repeatable. `rev`: what the workflow
 * knows; a process that remembers an older record reads it anew, since an older answer says nothing new to the workflow.
 */
export interface TaskActivities {
  /** The record as it is in the database; channels that the configuration lacks are left out of the round. */
  lookAtTask(task: string, account: string): Promise<TaskView>;
  /** What the workflow itself has to say: time, mostly. A refusal changes nothing; the view says where the task is. */
  stepTask(task: string, event: WorkflowEvent): Promise<TaskView>;
  /** An operator's act, or a caller's cancellation: checked, and written down with what it changes. */
  actOnTask(request: ActRequest): Promise<ActReply>;
  /** Looks for the job of a submission whose response was lost. */
  findLostJob(task: string, rev?: number): Promise<TaskView>;
  /** Ends a job that is no longer wanted, or says that its upstream does not; at the deadline a result still counts. */
  stopJob(task: string, rev?: number): Promise<TaskView>;
  /** Settles or releases, then writes the end; or asks a person about the charge. */
  finishTask(finish: FinishInput): Promise<TaskView>;
  /** Makes the first request of a callback, unless others might have to wait for it. Never throws. */
  firstCallback(task: string): Promise<FirstCallback>;
  /** Ends the back-off of the task's activity, and follows what comes of it for some seconds. */
  wakeTask(task: string, activity: string): Promise<Woken>;
  /** Repairs what a terminated or deleted workflow left behind. */
  reconcileTasks(): Promise<ReconcileReport>;
}

/**
 * What happened when an activity was woken. `busy`: a worker already had an attempt. `begun`: a worker has started the new
 * attempt. `not_begun`: no worker has started it yet. `ended`: the activity is over.
 */
export type Woken =
  | { readonly kind: 'busy' | 'begun' | 'not_begun' | 'ended' }
  /** `ended`: with what the attempt ended, for people. */
  | { readonly kind: 'tried'; readonly ended: string };

/** Those that only time, the end of an activity, or what others see of the task's surroundings brings about. */
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
  /** Of the update: the same act is written once. */
  readonly id: string;
  /** Unix milliseconds. */
  readonly at: number;
  /** The caller itself cancels, and no operator is on record. */
  readonly isCallers?: true;
  /** The workflow was cancelled with Temporal's own tools: its history says by whom. */
  readonly isCancelRequest?: true;
  readonly currency: string;
  readonly basis: PriceBasis;
}

export type ActReply =
  | { readonly done: true; readonly view: TaskView; readonly said: ActionResult }
  /** Nothing was changed. `message`: a sentence for whoever asked. */
  | { readonly done: false; readonly message: string };

/** Run by the workers of a channel's queues. */
export interface ChannelActivities {
  /** Submits once, and then waits for the end of the job, as `poll` does. */
  submit(input: SubmitInput): Promise<TaskView>;
  poll(input: PollInput): Promise<TaskView>;
}

export interface SubmitInput extends PollInput {
  readonly candidate: RouteCandidate;
}

export interface PollInput {
  readonly task: string;
  readonly rev?: number;
  /** How long such a task usually takes. */
  readonly expectedSeconds: number;
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

export interface ReconcileReport {
  readonly checked: number;
  readonly repaired: number;
  /** Could not be repaired this time. */
  readonly failed: number;
  /** By step, how many things were repaired. */
  readonly upkeep: Readonly<Record<string, number>>;
}
