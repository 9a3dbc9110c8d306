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
  readonly basis: PriceBasis;
  /** The code of every amount above; only for people at Temporal's tools. */
  readonly currency: string;
  readonly createdAt: number;
  readonly deadlineAt: number;
  readonly expectedSeconds: number;
  /** What decides how long it renders, as `renderedOutput` names it. */
  readonly output: string;
  readonly hasCallback: boolean;
  /** The key has no limit on unfinished tasks, so that the task does not count against it. Absent: it may. */
  readonly keyUnlimited?: true;
}

export type TaskResult =
  | { readonly status: 'succeeded'; readonly charge: string }
  | { readonly status: 'failed'; readonly code: TaskErrorCode }
  /** `refused`: the task does not exist, and its creator knows it. */
  | { readonly status: 'refused'; readonly refusal: 'service_unavailable' };
