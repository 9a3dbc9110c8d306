/** When the wait for an upstream is worth a person's attention, although the task continues. Pure. */

export interface PollsSoFar {
  /** Consecutive polls that failed. */
  readonly errors: number;
  /** Since the first of them. */
  readonly failingMs: number;
  /** The last of them was refused for a reason that is the channel's: its key, its balance, its permissions. */
  readonly isRefused?: boolean | undefined;
  /** Since the upstream accepted the job. */
  readonly elapsedMs: number;
  /** The model's usual render time. */
  readonly expectedMs: number;
}

export const pollConcerns = ['poll_failing', 'overdue'] as const;
export type PollConcern = (typeof pollConcerns)[number];

const errorsMax = 10;
/** Shorter, it is an outage that ends without anybody's help. */
const failingMinMs = 5 * 60_000;
const expectedTimesMax = 5;
/** A job of a few seconds is not worth a person's time sooner. */
const overdueMinMs = 60_000;

export function pollConcern(polls: PollsSoFar): PollConcern | undefined {
  const { errors, failingMs, isRefused, elapsedMs, expectedMs } = polls;
  const isLasting = errors >= errorsMax && failingMs >= failingMinMs;
  if (isLasting || (errors > 0 && isRefused === true)) return 'poll_failing';
  return elapsedMs >= Math.max(expectedTimesMax * expectedMs, overdueMinMs) ? 'overdue' : undefined;
}
