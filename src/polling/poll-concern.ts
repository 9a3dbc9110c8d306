import type { PollConcern } from '../task/attention.ts';
import type { PollMemory } from './poll-memory.ts';

/**
 * Decides when a task has waited for its upstream for so long that an operator should look at it. The task itself
 * continues.
 */

export interface PollsSoFar extends Pick<PollMemory, 'errors' | 'isRefused'> {
  readonly failingMs: number;
  readonly elapsedMs: number;
  readonly expectedMs: number;
}

const errorsMax = 10;
/** In milliseconds. Shorter outages usually resolve themselves. */
const failingMinMs = 5 * 60_000;
const expectedTimesMax = 5;
/** Without this minimum, a job that normally takes seconds would be reported too early. */
const overdueMinMs = 60_000;

export function pollConcern(polls: PollsSoFar): PollConcern | undefined {
  const { errors, failingMs, isRefused, elapsedMs, expectedMs } = polls;
  const isLasting = errors >= errorsMax && failingMs >= failingMinMs;
  if (isLasting || (errors > 0 && isRefused === true)) return 'poll_failing';
  return elapsedMs >= Math.max(expectedTimesMax * expectedMs, overdueMinMs) ? 'overdue' : undefined;
}
