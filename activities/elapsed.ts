import { Context } from '@temporalio/activity';

/**
 * How long the activity had been under way when its attempt began, at least: both times are of the server's clock. What
 * the attempt waited in its queue is left out. Milliseconds.
 */
export function elapsedBefore(): number {
  const { scheduledTimestampMs, currentAttemptScheduledTimestampMs } = Context.current().info;
  return Math.max(0, currentAttemptScheduledTimestampMs - scheduledTimestampMs);
}

/**
 * Call it at the start of an attempt. The returned function gives a lower bound of the activity's age in milliseconds. The
 * time of this attempt is measured with a monotonic clock.
 */
export function countElapsed(monotonic: () => number): () => number {
  const before = elapsedBefore();
  const begunAt = monotonic();
  return () => before + monotonic() - begunAt;
}
