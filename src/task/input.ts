import type { FailureClass } from '../errors/failure.ts';
import type { TaskErrorCode } from '../errors/errors.ts';
import type { PriceBasis } from '../money/price.ts';
import type { RouteCandidate } from './candidates.ts';
import type { Task } from './record.ts';

/**
 * A task workflow's input: only ids and small facts, frozen when the task was created. The task's record stores its
 * progress. Its request document stores prompts, media and the caller's callback address.
 */
export interface TaskInput
  extends Pick<Task, 'account' | 'key' | 'kind' | 'model' | 'deadlineAt' | 'hasCallback'>, TaskTerms {
  readonly task: string;
  readonly candidates: readonly RouteCandidate[];
  /** The worst case over all candidates, in micro-units as a decimal string. */
  readonly hold: string;
}

export interface TaskTerms {
  readonly basis: PriceBasis;
  /** The currency of every amount. The input contains it so that Temporal's tools can show it. */
  readonly currency: string;
  readonly expectedSeconds: number;
  /** Set if the key's unfinished tasks are unlimited. The task is then not counted. */
  readonly keyUnlimited?: true;
}

/** The expected time of a model that has no configured time or is missing from the configuration. */
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
  /** The task never existed, and the caller has already received the error. */
  | { readonly status: 'abandoned' };
