import { Context } from '@temporalio/activity';

/**
 * The interval between heartbeats, as a fraction of the activity's heartbeat timeout. Three heartbeats fit into the
 * timeout.
 */
const sharePerHeartbeat = 0.27;
/**
 * Used for long attempts, which send fewer heartbeats. The rest of the timeout covers the start of the attempt, which
 * has no heartbeats, and ten seconds of retries by the Temporal client.
 */
const rareShare = 0.5;
const timeoutDefaultMs = 15_000;
/** Work that ends sooner than this sends no heartbeat, because each one costs the server a write. */
const rememberAfterMs = 250;

/**
 * Sends heartbeats while the work runs, so that the server does not consider this worker dead. The next attempt
 * receives `details`, or the previous attempt's details if they are omitted.
 */
export async function withHeartbeat<Result>(work: Promise<Result>, details?: unknown): Promise<Result> {
  const context = Context.current();
  const remembered: unknown = details ?? context.info.heartbeatDetails;
  const send = (): void => context.heartbeat(remembered);
  const first = details === undefined ? undefined : setTimeout(send, rememberAfterMs);
  return whileSending(send, sharePerHeartbeat, work).finally(() => clearTimeout(first));
}

interface RareHeartbeat {
  readonly details: () => unknown;
  readonly isQuiet: () => boolean;
}

/** Like `withHeartbeat`, but sends as few heartbeats as the timeout allows. */
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
