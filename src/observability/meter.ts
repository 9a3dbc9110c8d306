import type { UpstreamOutcome } from '../errors/upstream-outcome.ts';

/** Counts and times upstream requests. */
export interface UpstreamMeter {
  /** Call this when an adapter call starts, and call the returned function when it ends. */
  beginUpstream(channel: string, step: UpstreamStep): (result: UpstreamResult) => void;
}

/** The adapter methods. `list` queries many jobs with one request. */
export type UpstreamStep = 'submit' | 'status' | 'list' | 'find' | 'cancel' | 'generate' | 'resume';
/** `adapter_failed`: the adapter threw something other than an UpstreamError. */
export type UpstreamResult = 'ok' | UpstreamOutcome | 'adapter_failed';

export interface LedgerMeter {
  /** Call this when a batch of ledger operations starts, and call the returned function when it ends. */
  beginAppend(): () => void;
  /** Counts an append that lost to another process's write to the same account. */
  countCollision(): void;
}
