import type { Cost } from '../money/cost.ts';
import type { FailureClass } from '../errors/failure.ts';
import type { RouteCandidate } from './candidates.ts';

export const rescuableClasses = [
  'capacity',
  'internal',
  'moderation_input',
  'moderation_output',
] as const satisfies readonly FailureClass[];

/**
 * Copied from the model's `fallback` when the task was created, so that later configuration changes do not affect the
 * task.
 */
export interface Fallback {
  readonly candidates: readonly RouteCandidate[];
  readonly on: readonly FailureClass[];
  readonly neededSeconds: number;
}

interface ReportedBilling {
  readonly unbilled?: true;
  readonly cost?: Cost;
}

/** A cost that the upstream reports overrides what the vendor's documentation says about billing. */
export function isUnbilled({ unbilled, cost }: ReportedBilling): boolean {
  return cost === undefined ? unbilled === true : !/[1-9]/.test(cost.amount);
}
