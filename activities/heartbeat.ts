import { Context } from '@temporalio/activity';

const heartbeatEveryMs = 4_000;

/**
 * Tells the server that this worker is alive while the work goes on; a dead one is noticed by the heartbeat timeout.
 * `details` reach the next attempt; absent, those of the last one stay.
 */
export async function beating<Result>(work: Promise<Result>, details?: unknown): Promise<Result> {
  const context = Context.current();
  const remembered: unknown = details ?? context.info.heartbeatDetails;
  if (details !== undefined) context.heartbeat(details);
  const timer = setInterval(() => context.heartbeat(remembered), heartbeatEveryMs);
  try {
    return await work;
  } finally {
    clearInterval(timer);
  }
}
