import type { Cost } from '../money/cost.ts';
import type { FailureClass } from '../errors/failure.ts';
import type { RouteCandidate } from './candidates.ts';

/** Decides whether and where to replace a job that failed upstream. Pure. */

export const rescuableClasses = [
  'capacity',
  'internal',
  'moderation_input',
  'moderation_output',
] as const satisfies readonly FailureClass[];

/** A task's own copy of its model's `fallback`, frozen at creation. */
export interface Fallback {
  /** The candidates in the order of attempts. */
  readonly candidates: readonly RouteCandidate[];
  readonly on: readonly FailureClass[];
  /** The minimum time before the deadline, in seconds. With less time, no replacement is submitted. */
  readonly neededSeconds: number;
}

/** An upstream's report on a failed job's price. */
interface ReportedBilling {
  /** Set if the vendor charges nothing for the job. Absent if that is unknown. */
  readonly unbilled?: true;
  readonly cost?: Cost;
}

/** Whether the job costs nothing. A cost in the response overrides the vendor's documented policy. */
export function isUnbilled({ unbilled, cost }: ReportedBilling): boolean {
  return cost === undefined ? unbilled === true : !/[1-9]/.test(cost.amount);
}

/**
 * Returns the channels where the task can continue after its job failed with this class. Empty if the task must end.
 * Excludes every channel where a job of the task has failed or been rejected.
 */
export function rescueCandidates(
  { candidates, on, neededSeconds }: Fallback,
  failed: {
    readonly class: FailureClass;
    readonly channels: readonly string[];
    /** The time until the deadline, in milliseconds. */
    readonly remainingMs: number;
  },
): readonly RouteCandidate[] {
  if (!on.includes(failed.class) || failed.remainingMs < neededSeconds * 1000) return [];
  return candidates.filter(({ channel }) => !failed.channels.includes(channel));
}
