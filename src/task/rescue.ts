import type { Cost } from '../money/cost.ts';
import type { FailureClass } from '../errors/failure.ts';
import type { RouteCandidate } from './candidates.ts';

export const rescuableClasses = [
  'capacity',
  'internal',
  'moderation_input',
  'moderation_output',
] as const satisfies readonly FailureClass[];

/** A task's own copy of its model's `fallback`, frozen at creation. */
export interface Fallback {
  readonly candidates: readonly RouteCandidate[];
  readonly on: readonly FailureClass[];
  readonly neededSeconds: number;
}

interface ReportedBilling {
  /** Set if the vendor documents that it charges nothing for such a job. */
  readonly unbilled?: true;
  readonly cost?: Cost;
}

/** Whether the upstream charges nothing. A cost in the response overrides the vendor's documented policy. */
export function isUnbilled({ unbilled, cost }: ReportedBilling): boolean {
  return cost === undefined ? unbilled === true : !/[1-9]/.test(cost.amount);
}
