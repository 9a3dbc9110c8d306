import type { ActionInput } from '../task/act-fields.ts';
import type { ActionResult, RunningActionName } from '../task/acts.ts';
import type { Stall } from '../task/wait.ts';
import type { TaskInput } from '../task/input.ts';

/** An activity that is submitting or polling, or is about to. Times are in Unix milliseconds. */
export interface Waiting {
  readonly activity?: string;
  readonly stall?: Stall;
  /** The message from its last attempt. */
  readonly message?: string;
  readonly nextAt?: number;
  readonly polls?: number;
  /** The number of consecutive failed polls. */
  readonly errors?: number;
  readonly lastError?: string;
  readonly lastAt?: number;
}

/** A query for Temporal's visibility store. `page` is the previous page's `next`. */
export interface TaskSearch {
  readonly query: string;
  readonly limit: number;
  readonly page?: string;
}

export interface FoundTasks {
  readonly ids: readonly string[];
  /** The next page's start. Undefined on the last page. */
  readonly next?: string;
}

/**
 * Through this port, HTTP starts, cancels and inspects work. Every method throws GatewayError `service_unavailable` if
 * Temporal does not respond in time.
 */
export interface TaskPort {
  /**
   * Starts the task's workflow. Succeeds even if no worker is running. Idempotent, because a task id always denotes the
   * same task.
   */
  start(input: TaskInput): Promise<void>;
  /**
   * Throws `task_not_cancellable` if the upstream refuses or cannot cancel, and `task_not_found` if no such task is
   * running.
   */
  cancel(task: string): Promise<void>;
  /** If the task is waiting for its next poll, polls it immediately. Never throws. */
  wake(task: string): Promise<void>;
  /**
   * Carries out an action on a task that has not ended. Its workflow records the action. If this throws
   * `action_not_possible`, with the reason, nothing has changed.
   */
  act(task: string, action: RunningActionName, input: ActionInput): Promise<ActionResult>;
  /**
   * Returns what the task's workflow awaits. Undefined if it is not waiting, or if Temporal does not respond. Never
   * throws.
   */
  waiting(task: string): Promise<Waiting | undefined>;
  /**
   * Queries Temporal's visibility store, which lags slightly, and returns the matching tasks. Throws
   * `invalid_parameter` if the query is invalid.
   */
  search(search: TaskSearch): Promise<FoundTasks>;
  /** Sends an ended task's callback once more. */
  redeliver(task: string): Promise<void>;
  /** Returns the queues that every task uses but no worker polls. Throws if Temporal does not respond. */
  unpolledQueues(): Promise<readonly string[]>;
}
