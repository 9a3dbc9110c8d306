import type { Cost } from '../money/cost.ts';
import type { FailureClass } from '../errors/failure.ts';
import type { RouteCandidate } from './candidates.ts';

/** Whether, and where, the job of a task that failed at its upstream is replaced by another one. Pure. */

export const rescuableClasses = [
  'capacity',
  'internal',
  'moderation_input',
  'moderation_output',
] as const satisfies readonly FailureClass[];

/** A task's own copy of its model's `fallback`, frozen when it is created. */
export interface Fallback {
  /** In the order in which they are tried. */
  readonly candidates: readonly RouteCandidate[];
  readonly on: readonly FailureClass[];
  /** With less time than this left before the deadline, no other job is begun. */
  readonly neededSeconds: number;
}

/** What an upstream reports about the price of a job that failed. */
interface ReportedBilling {
  /** The vendor charges nothing for it. Absent: it is not known. */
  readonly unbilled?: true;
  readonly cost?: Cost;
}

/** A cost that the answer names counts more than what the vendor's documents promise. */
export function isUnbilled({ unbilled, cost }: ReportedBilling): boolean {
  return cost === undefined ? unbilled === true : !/[1-9]/.test(cost.amount);
}

/**
 * Where a task goes whose job failed with this class; empty: nowhere. A channel at which a job of the task has failed,
 * or was rejected, is not asked again.
 */
export function rescueCandidates(
  { candidates, on, neededSeconds }: Fallback,
  failed: {
    readonly class: FailureClass;
    readonly channels: readonly string[];
    /** Milliseconds until the deadline. */
    readonly remainingMs: number;
  },
): readonly RouteCandidate[] {
  if (!on.includes(failed.class) || failed.remainingMs < neededSeconds * 1000) return [];
  return candidates.filter(({ channel }) => !failed.channels.includes(channel));
}
