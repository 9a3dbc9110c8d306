import type { PriceBasis } from './price.ts';
import type { Fallback } from './rescue.ts';
import type { RouteCandidate } from './routing.ts';
import type { TaskErrorCode } from './errors.ts';
import type { TaskKind } from './task.ts';

/**
 * The input of a task's workflow: ids and small facts only. Prompts, media and the caller's callback address stay in
 * MongoDB (the task's request document and projection). Times in Unix milliseconds.
 */
export interface TaskInput {
  readonly task: string;
  readonly account: string;
  readonly key: string;
  readonly kind: TaskKind;
  readonly model: string;
  /** In the order in which they are tried. */
  readonly candidates: readonly RouteCandidate[];
  /** Where the task goes when its job fails at the upstream; absent: nowhere. */
  readonly fallback?: Fallback;
  /** Micro-units, decimal string: the worst case over the candidates. */
  readonly hold: string;
  /** Until revision 2, in which the workflow takes the hold. */
  readonly overdraftLimit?: string;
  readonly basis: PriceBasis;
  /** The code of every amount above; absent in older tasks. Only for people at Temporal's tools. */
  readonly currency?: string;
  readonly createdAt: number;
  /** Until revision 2: a worker that comes later than this does not take the hold. */
  readonly admitBy?: number;
  readonly deadlineAt: number;
  readonly expectedSeconds: number;
  /** What decides how long it renders, as `renderedOutput` names it. Absent in older tasks. */
  readonly output?: string;
  readonly hasCallback: boolean;
  /** Until revision 2: the key's limit on unfinished tasks. */
  readonly concurrentTasks?: number;
  /** The key has no limit on unfinished tasks, so that the task does not count against it. Absent: it may. */
  readonly keyUnlimited?: true;
  /**
   * What the workflow does where that changed since the first tasks: the commands of a task in flight must not change.
   * Absent: search attributes are written when the job is accepted. 2: they are written when the task ends. 3: the API
   * takes the hold before it starts the workflow; nothing of a submission is decided by a read. 4: one activity
   * submits the job and waits for its end, and the first request of the callback is made by the worker that ends the task.
   * 5: local activities run one at a time.
   */
  readonly revision?: 2 | 3 | 4 | 5;
}

/** Whether the task began with this revision of its course, or a later one. */
export function isSince(revision: 3 | 4 | 5, input: Pick<TaskInput, 'revision'>): boolean {
  return (input.revision ?? 1) >= revision;
}

/** Why a task was not admitted: the error code that its creator gets. */
export type Refusal = 'insufficient_balance' | 'concurrency_limit_exceeded' | 'service_unavailable';

/** `createdAt` is that of the task, also when the same creation is repeated. */
export type Admission =
  | { readonly admitted: true; readonly createdAt: number }
  | { readonly admitted: false; readonly refusal: Refusal; readonly message: string };

export type TaskResult =
  | { readonly status: 'succeeded'; readonly charge: string }
  | { readonly status: 'failed'; readonly code: TaskErrorCode }
  /** `refused`: the task does not exist, and its creator knows it. */
  | { readonly status: 'refused'; readonly refusal: Refusal };

/**
 * The input of the former update `operate`, which histories of older tasks hold: today each action is an update of its own
 * (src/domain/operator-actions.ts).
 */
export interface FormerOperatorAction {
  readonly action: 'poll' | 'cancel' | 'fail' | 'resubmit' | 'adopt' | 'accept_charge' | 'redeliver';
  readonly by: string;
  readonly reason: string;
  readonly upstreamId?: string;
}
