import { Context } from '@temporalio/activity';

/**
 * The activity's minimum age when its attempt began. Both times come from the server's clock. Excludes the attempt's
 * time in its queue.
 */
export function elapsedBefore(): number {
  const { scheduledTimestampMs, currentAttemptScheduledTimestampMs } = Context.current().info;
  return Math.max(0, currentAttemptScheduledTimestampMs - scheduledTimestampMs);
}

/**
 * Call this at the start of an attempt. The returned function returns the activity's minimum age in milliseconds. A
 * monotonic clock measures the attempt's own duration.
 */
export function countElapsed(monotonic: () => number): () => number {
  const before = elapsedBefore();
  const begunAt = monotonic();
  return () => before + monotonic() - begunAt;
}
