import type { FailureClass } from '../errors/failure.ts';
import type { TaskErrorCode } from '../errors/errors.ts';
import type { PriceBasis } from '../money/price.ts';
import type { RouteCandidate } from './candidates.ts';
import type { Task } from './record.ts';

/**
 * Temporal stores this input in plain text, so it contains only ids and small facts. Prompts, media and the callback
 * address stay in the request document.
 */
export interface TaskInput
  extends Pick<Task, 'account' | 'key' | 'kind' | 'model' | 'deadlineAt' | 'hasCallback'>, TaskTerms {
  readonly task: string;
  readonly candidates: readonly RouteCandidate[];
  /** The highest possible charge on any candidate, in micro-units as a decimal string. */
  readonly hold: string;
}

export interface TaskTerms {
  readonly basis: PriceBasis;
  /** Included only so that Temporal's tools can show it. */
  readonly currency: string;
  readonly expectedSeconds: number;
  /** Set if the API key has no limit on unfinished tasks, so the task need not be counted. */
  readonly keyUnlimited?: true;
}

/** Used if the configuration does not specify an expected time for the model. */
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
  /** The creation failed, and the caller has already received the error. */
  | { readonly status: 'abandoned' };
