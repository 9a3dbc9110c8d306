import { Context } from '@temporalio/activity';

const heartbeatEveryMs = 4_000;
/** Work that ends sooner sends no heartbeat, which is a write on the server. */
const rememberAfterMs = 250;

/**
 * Shows the server that this worker is alive while the work continues; the heartbeat timeout detects a dead one.
 * `details` reach the next attempt, if the work takes longer than a moment; absent, those of the last one stay.
 */
export async function withHeartbeat<Result>(work: Promise<Result>, details?: unknown): Promise<Result> {
  const context = Context.current();
  const remembered: unknown = details ?? context.info.heartbeatDetails;
  const sendHeartbeat = (): void => context.heartbeat(remembered);
  const first = details === undefined ? undefined : setTimeout(sendHeartbeat, rememberAfterMs);
  const timer = setInterval(sendHeartbeat, heartbeatEveryMs);
  try {
    return await work;
  } finally {
    clearTimeout(first);
    clearInterval(timer);
  }
}

/** Of the activity's heartbeat timeout: one may be lost. */
const rareShare = 0.3;
const rareMaxMs = 20_000;

interface RareHeartbeat {
  /** Asked each time; the last of them reach the next attempt. */
  readonly details: () => unknown;
  /** No heartbeat is sent then. */
  readonly isQuiet: () => boolean;
}

/** The same for an attempt that stays for long: as few heartbeats as its timeout allows. */
export async function withRareHeartbeat<Result>(
  work: Promise<Result>,
  { details, isQuiet }: RareHeartbeat,
): Promise<Result> {
  const context = Context.current();
  const timeoutMs = context.info.heartbeatTimeoutMs ?? rareMaxMs;
  const sendHeartbeat = (): void => {
    if (!isQuiet()) context.heartbeat(details() ?? context.info.heartbeatDetails);
  };
  const timer = setInterval(sendHeartbeat, Math.min(timeoutMs * rareShare, rareMaxMs));
  try {
    return await work;
  } finally {
    clearInterval(timer);
  }
}
