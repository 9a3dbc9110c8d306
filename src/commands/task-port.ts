import type { ActionInput } from '../task/act-fields.ts';
import type { ActionResult, RunningActionName } from '../task/acts.ts';
import type { Stall } from '../task/wait.ts';
import type { TaskInput } from '../task/input.ts';

/** The activity that is submitting or polling, or waits to. Times in Unix milliseconds. */
export interface Waiting {
  readonly activity?: string;
  readonly stall?: Stall;
  /** How its last attempt ended, in words. */
  readonly message?: string;
  readonly nextAt?: number;
  readonly polls?: number;
  /** Consecutive polls that failed. */
  readonly errors?: number;
  readonly lastError?: string;
  readonly lastAt?: number;
}

/** A query of Temporal's visibility; `page`: where the page before ended. */
export interface TaskSearch {
  readonly query: string;
  readonly limit: number;
  readonly page?: string;
}

export interface FoundTasks {
  readonly ids: readonly string[];
  /** Absent: there are no more. */
  readonly next?: string;
}

/**
 * The port through which HTTP starts, cancels and inspects work. Every method throws GatewayError
 * `service_unavailable` when Temporal does not answer in time.
 */
export interface TaskPort {
  /** Starts the task's workflow; no worker takes part. Repeatable: the same task id is the same task. */
  start(input: TaskInput): Promise<void>;
  /** Throws `task_not_cancellable` if the upstream refuses or cannot, `task_not_found` if no such task runs. */
  cancel(task: string): Promise<void>;
  /** Polls now, if the task is waiting for its next poll. Never throws for a task that is not. */
  wake(task: string): Promise<void>;
  /**
   * An action on a task that has not ended; its workflow records it. Throws `action_not_possible` with the reason, and
   * then nothing has changed.
   */
  act(task: string, action: RunningActionName, input: ActionInput): Promise<ActionResult>;
  /** What the task's workflow waits for; undefined: nothing, or Temporal does not answer. Never throws. */
  waiting(task: string): Promise<Waiting | undefined>;
  /** Tasks that Temporal's visibility finds, a little behind. Throws `invalid_parameter` for what is not a query. */
  search(search: TaskSearch): Promise<FoundTasks>;
  /** Sends the callback of a task that has ended again. */
  redeliver(task: string): Promise<void>;
  /** The queues of every task that nobody polls. Throws when Temporal does not answer. */
  unpolledQueues(): Promise<readonly string[]>;
}
