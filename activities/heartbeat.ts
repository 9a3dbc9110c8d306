import { Context } from '@temporalio/activity';

const heartbeatEveryMs = 4_000;

/** Tells the server that this worker is alive while the work goes on; a dead one is noticed by the heartbeat timeout. */
export async function beating<Result>(work: Promise<Result>): Promise<Result> {
  const context = Context.current();
  const timer = setInterval(() => context.heartbeat(context.info.heartbeatDetails), heartbeatEveryMs);
  try {
    return await work;
  } finally {
    clearInterval(timer);
  }
}
