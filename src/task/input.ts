import type { FailureClass } from '../errors/failure.ts';
import type { TaskErrorCode } from '../errors/errors.ts';
import type { PriceBasis } from '../money/price.ts';
import type { RouteCandidate } from './candidates.ts';
import type { Task } from './record.ts';

/**
 * The input of a task's workflow: what was frozen when the task was created, ids and small facts only. What becomes of the
 * task stands in its record; prompts, media and the caller's callback address in its request document.
 */
export interface TaskInput
  extends Pick<Task, 'account' | 'key' | 'kind' | 'model' | 'deadlineAt' | 'hasCallback'>, TaskTerms {
  readonly task: string;
  /** In the order in which they are tried. */
  readonly candidates: readonly RouteCandidate[];
  /** Micro-units, decimal string: the worst case over the candidates. */
  readonly hold: string;
}

/** What the record does not say. */
export interface TaskTerms {
  readonly basis: PriceBasis;
  /** The code of every amount, for people at Temporal's tools. */
  readonly currency: string;
  readonly expectedSeconds: number;
  /** The key has no limit on unfinished tasks, so that the task does not count against it. Absent: it may. */
  readonly keyUnlimited?: true;
}

/** Counts for a model without a configured time, and for a model that the configuration lacks. */
export const expectedSecondsDefault = 60;

export function inputOf(record: Task, terms: TaskTerms): TaskInput {
  const { id: task, account, key, kind, model, plan, deadlineAt, hasCallback } = record;
  const { candidates } = plan;
  const hold = record.hold.toString();
  return { task, account, key, kind, model, candidates, hold, deadlineAt, hasCallback, ...terms };
}

export type TaskResult =
  | { readonly status: 'succeeded'; readonly charge: string }
  | { readonly status: 'failed'; readonly code: TaskErrorCode; readonly class?: FailureClass }
  /** The creation was abandoned: the task does not exist, and its creator knows it. */
  | { readonly status: 'abandoned' };
