import { Context } from '@temporalio/activity';

/** Of the activity's heartbeat timeout: three may be lost. */
const sharePerHeartbeat = 0.27;
/**
 * Of the activity's heartbeat timeout: with what another part of the attempt may have left unsaid before, and the ten
 * seconds for which the client repeats a request that failed, it stays below the whole.
 */
const rareShare = 0.5;
/** Of an activity that does not say its timeout. */
const timeoutDefaultMs = 15_000;
/** Work that ends sooner sends no heartbeat, which is a write on the server. */
const rememberAfterMs = 250;

/**
 * Shows the server that this worker is alive while the work continues; the heartbeat timeout detects a dead one.
 * `details` reach the next attempt, if the work takes longer than a moment; absent, those of the last one stay.
 */
export async function withHeartbeat<Result>(work: Promise<Result>, details?: unknown): Promise<Result> {
  const context = Context.current();
  const remembered: unknown = details ?? context.info.heartbeatDetails;
  const send = (): void => context.heartbeat(remembered);
  const first = details === undefined ? undefined : setTimeout(send, rememberAfterMs);
  return whileSending(send, sharePerHeartbeat, work).finally(() => clearTimeout(first));
}

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
  const send = (): void => (isQuiet() ? undefined : context.heartbeat(details()));
  return whileSending(send, rareShare, work);
}

async function whileSending<Result>(send: () => void, share: number, work: Promise<Result>): Promise<Result> {
  const timeoutMs = Context.current().info.heartbeatTimeoutMs ?? timeoutDefaultMs;
  const timer = setInterval(send, timeoutMs * share);
  return work.finally(() => clearInterval(timer));
}
