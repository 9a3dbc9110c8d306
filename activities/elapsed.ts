import { Context } from '@temporalio/activity';

/**
 * How long the activity had been under way when its attempt began, at least: both times are of the server's clock. What
 * the attempt waited in its queue is left out. Milliseconds.
 */
export function elapsedBefore(): number {
  const { scheduledTimestampMs, currentAttemptScheduledTimestampMs } = Context.current().info;
  return Math.max(0, currentAttemptScheduledTimestampMs - scheduledTimestampMs);
}
