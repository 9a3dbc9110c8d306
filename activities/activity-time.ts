import { ApplicationFailure, Context } from '@temporalio/activity';
import { defined } from '../src/base/defined.ts';

/**
 * Returns the activity's age in milliseconds, by the server's clock. The time that the current attempt spent in the
 * queue is not counted, so the real age may be higher.
 */
export function elapsedBefore(): number {
  const { scheduledTimestampMs, currentAttemptScheduledTimestampMs } = Context.current().info;
  return Math.max(0, currentAttemptScheduledTimestampMs - scheduledTimestampMs);
}

/**
 * Call this at the start of an attempt. The returned function reports the activity's age in milliseconds. It uses a
 * monotonic clock, so changes to the system time do not affect it.
 */
export function countElapsed(monotonic: () => number): () => number {
  const before = elapsedBefore();
  const begunAt = monotonic();
  return () => before + monotonic() - begunAt;
}

/**
 * Returns false if the activity is being retried or was reset by an operator ("poll now"), because it should then poll
 * immediately. The attempt number alone does not show this, because a reset sets it back to 1.
 */
export function isFirstAttempt(): boolean {
  const { attempt, scheduledTimestampMs, currentAttemptScheduledTimestampMs } = Context.current().info;
  return attempt === 1 && currentAttemptScheduledTimestampMs === scheduledTimestampMs;
}

/**
 * Returns a failure that makes Temporal run the activity again after `afterMs`, or according to its retry policy. While
 * it waits, the activity uses no resources in this worker.
 */
export function later(type: string, message: string, afterMs?: number): ApplicationFailure {
  return ApplicationFailure.create({
    type,
    message,
    category: 'BENIGN',
    ...defined({ nextRetryDelay: afterMs }),
  });
}
