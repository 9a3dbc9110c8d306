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

/**
 * Returns the channels where the task can continue after its job failed with this class. Excludes channels where a job
 * of the task has failed or been rejected. If the list is empty, the task must end.
 */
export function rescueCandidates(
  { candidates, on, neededSeconds }: Fallback,
  failed: {
    readonly class: FailureClass;
    readonly channels: readonly string[];
    readonly remainingMs: number;
  },
): readonly RouteCandidate[] {
  if (!on.includes(failed.class) || failed.remainingMs < neededSeconds * 1000) return [];
  return candidates.filter(({ channel }) => !failed.channels.includes(channel));
}
