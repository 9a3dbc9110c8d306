import type { ActionInput } from '../operating/act-fields.ts';
import type { ActionResult, RunningActionName } from '../operating/acts.ts';
import type { Stall } from '../task/wait.ts';
import type { TaskInput } from '../task/input.ts';

/** Describes the workflow's current or next activity. Times are in Unix milliseconds. */
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
 * The HTTP server's access to workflows. Unless stated otherwise, every method throws GatewayError
 * `service_unavailable` if Temporal did not respond in time.
 */
export interface TaskPort {
  /** Succeeds even if no worker is running. Idempotent, because task ids are never reused. */
  start(input: TaskInput): Promise<void>;
  /**
   * Throws `task_not_cancellable` if the task has ended, or if the upstream cannot cancel or refuses to.
   */
  cancel(task: string): Promise<void>;
  /** Polls now if the task is waiting for its next poll. Never throws. */
  wake(task: string): Promise<void>;
  /** The workflow itself performs and records the action. If this throws `action_not_possible`, nothing has changed. */
  act(task: string, action: RunningActionName, input: ActionInput): Promise<ActionResult>;
  /** Undefined if the workflow is not waiting or Temporal does not respond. Never throws. */
  waiting(task: string): Promise<Waiting | undefined>;
  /** Searches Temporal's visibility store, which lags slightly. Throws `invalid_parameter` if the query is invalid. */
  search(search: TaskSearch): Promise<FoundTasks>;
  redeliver(task: string): Promise<void>;
  /** Returns the queues that every task needs but no worker polls. */
  unpolledQueues(): Promise<readonly string[]>;
}
