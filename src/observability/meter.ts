import type { UpstreamOutcome } from '../errors/upstream-outcome.ts';

export interface UpstreamMeter {
  /** Call the returned function when the adapter call has finished. */
  beginUpstream(channel: string, step: UpstreamStep): (result: UpstreamResult) => void;
}

export type UpstreamStep = 'submit' | 'status' | 'list' | 'find' | 'cancel' | 'generate' | 'resume';
export type UpstreamResult = 'ok' | UpstreamOutcome | 'adapter_failed';

export interface LedgerMeter {
  beginAppend(): () => void;
  /** Counts an append that failed because another process appended to the same account first. */
  countCollision(): void;
}
