import { Context } from '@temporalio/activity';

/**
 * The interval between heartbeats, as a fraction of the activity's heartbeat timeout. Three heartbeats fit into one
 * timeout.
 */
const sharePerHeartbeat = 0.27;
/**
 * The same fraction for long attempts. The margin covers an initial phase without heartbeats, and a client that retries
 * a failed request for ten seconds.
 */
const rareShare = 0.5;
const timeoutDefaultMs = 15_000;
/** Shorter work sends no heartbeat, because each heartbeat is a write on the server. */
const rememberAfterMs = 250;

/**
 * Sends heartbeats during the work. Without heartbeats, the server considers this worker dead after the heartbeat
 * timeout. `details` are passed to the next attempt, unless the work ends almost immediately. If omitted, the previous
 * attempt's details are kept.
 */
export async function withHeartbeat<Result>(work: Promise<Result>, details?: unknown): Promise<Result> {
  const context = Context.current();
  const remembered: unknown = details ?? context.info.heartbeatDetails;
  const send = (): void => context.heartbeat(remembered);
  const first = details === undefined ? undefined : setTimeout(send, rememberAfterMs);
  return whileSending(send, sharePerHeartbeat, work).finally(() => clearTimeout(first));
}

interface RareHeartbeat {
  /** Called for each heartbeat. The latest result is passed to the next attempt. */
  readonly details: () => unknown;
  readonly isQuiet: () => boolean;
}

/** Like `withHeartbeat`, but for long attempts. Sends as few heartbeats as the timeout allows. */
export async function withRareHeartbeat<Result>(
  work: Promise<Result>,
  { details, isQuiet }: RareHeartbeat,
): Promise<Result> {
  const context = Context.current();
  const send = (): void => (isQuiet() ? undefined : context.heartbeat(details()));
  return whileSending(send, rareShare, work);
}

async function whileSending<Result>(send: () => void, share: number, work: Promise<Result>): Promise<Result> {
  const timeoutMs = Context.current().info.heartbeatTimeoutMs ?? timeoutDefaultMs;
  const timer = setInterval(send, timeoutMs * share);
  return work.finally(() => clearInterval(timer));
}
