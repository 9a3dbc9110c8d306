import { ApplicationFailure, Context } from '@temporalio/activity';
import { defined } from '../src/base/defined.ts';

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

/**
 * Whether the activity is running for the first time. A retry or a reset ("poll now") polls immediately. A reset
 * restarts the attempt count at 1, but keeps the activity's scheduled time.
 */
export function isFirstAttempt(): boolean {
  const { attempt, scheduledTimestampMs, currentAttemptScheduledTimestampMs } = Context.current().info;
  return attempt === 1 && currentAttemptScheduledTimestampMs === scheduledTimestampMs;
}

/**
 * Returns a failure that only makes the activity wait. The activity runs again after `afterMs`, or according to its
 * retry policy. The wait is a timer on the server and uses no resources here.
 */
export function later(type: string, message: string, afterMs?: number): ApplicationFailure {
  return ApplicationFailure.create({
    type,
    message,
    category: 'BENIGN',
    ...defined({ nextRetryDelay: afterMs }),
  });
}
