import type { ActionInput } from '../operating/act-fields.ts';
import type { ActionResult, RunningActionName } from '../operating/acts.ts';
import type { Stall } from '../task/wait.ts';
import type { TaskInput } from '../task/input.ts';

/** The workflow's current or next activity, which submits or polls. Times are in Unix milliseconds. */
export interface Waiting {
  readonly activity?: string;
  readonly stall?: Stall;
  readonly message?: string;
  readonly nextAt?: number;
  readonly polls?: number;
  readonly errors?: number;
  readonly lastError?: string;
  readonly lastAt?: number;
}

export interface TaskSearch {
  readonly query: string;
  readonly limit: number;
  readonly page?: string;
}

export interface FoundTasks {
  readonly ids: readonly string[];
  readonly next?: string;
}

/**
 * Starts, cancels and inspects workflows for the HTTP server. Unless stated otherwise, every method throws GatewayError
 * `service_unavailable` if Temporal does not respond in time.
 */
export interface TaskPort {
  /**
   * Starts the task's workflow. Succeeds even if no worker is running. Idempotent, because task ids are never reused.
   */
  start(input: TaskInput): Promise<void>;
  /**
   * Throws `task_not_cancellable` if the upstream cannot cancel or refuses to, and `task_not_found` if no such task is
   * running.
   */
  cancel(task: string): Promise<void>;
  /** Polls now if the task is waiting for its next poll. Never throws. */
  wake(task: string): Promise<void>;
  /**
   * Performs an action on an unfinished task, whose workflow records the action. If this throws `action_not_possible`,
   * whose message gives the reason, nothing has changed.
   */
  act(task: string, action: RunningActionName, input: ActionInput): Promise<ActionResult>;
  /**
   * Returns what the task's workflow is waiting for. Undefined if the workflow is not waiting or Temporal does not
   * respond. Never throws.
   */
  waiting(task: string): Promise<Waiting | undefined>;
  /**
   * Returns the matching tasks from Temporal's visibility store, which lags slightly. Throws `invalid_parameter` if the
   * query is invalid.
   */
  search(search: TaskSearch): Promise<FoundTasks>;
  redeliver(task: string): Promise<void>;
  /** Returns the queues that every task needs but no worker polls. Throws if Temporal does not respond. */
  unpolledQueues(): Promise<readonly string[]>;
}
