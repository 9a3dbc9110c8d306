import type { FailureClass } from './failure.ts';
import type { TaskErrorCode } from './errors.ts';
import type { PriceBasis } from './price.ts';
import type { RouteCandidate } from './routing.ts';
import type { TaskKind } from './task.ts';

/**
 * The input of a task's workflow: what was frozen when the task was created, ids and small facts only. What becomes of the
 * task stands in its record; prompts, media and the caller's callback address in its request document. Times in Unix
 * milliseconds.
 */
export interface TaskInput {
  readonly task: string;
  readonly account: string;
  readonly key: string;
  readonly kind: TaskKind;
  readonly model: string;
  /** In the order in which they are tried. */
  readonly candidates: readonly RouteCandidate[];
  /** Micro-units, decimal string: the worst case over the candidates. */
  readonly hold: string;
  readonly basis: PriceBasis;
  /** The code of every amount above, for people at Temporal's tools. */
  readonly currency: string;
  readonly deadlineAt: number;
  readonly expectedSeconds: number;
  readonly hasCallback: boolean;
  /** The key has no limit on unfinished tasks, so that the task does not count against it. Absent: it may. */
  readonly keyUnlimited?: true;
}

export type TaskResult =
  | { readonly status: 'succeeded'; readonly charge: string }
  | { readonly status: 'failed'; readonly code: TaskErrorCode; readonly class?: FailureClass }
  /** The creation was abandoned: the task does not exist, and its creator knows it. */
  | { readonly status: 'given_up' };
