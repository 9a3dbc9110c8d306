import { Context } from '@temporalio/activity';

/**
 * Returns the activity's minimum age when this attempt began, in milliseconds by the server's clock. Excludes the
 * attempt's own time in the queue.
 */
export function elapsedBefore(): number {
  const { scheduledTimestampMs, currentAttemptScheduledTimestampMs } = Context.current().info;
  return Math.max(0, currentAttemptScheduledTimestampMs - scheduledTimestampMs);
}

/**
 * Call this at the start of an attempt. The returned function returns the activity's minimum age in milliseconds. The
 * time since the attempt began is measured with a monotonic clock.
 */
export function countElapsed(monotonic: () => number): () => number {
  const before = elapsedBefore();
  const begunAt = monotonic();
  return () => before + monotonic() - begunAt;
}
