import type { UpstreamOutcome } from '../errors/upstream-outcome.ts';

export interface UpstreamMeter {
  /** Call when an adapter call starts. Call the returned function when it ends. */
  beginUpstream(channel: string, step: UpstreamStep): (result: UpstreamResult) => void;
}

/** The methods of an adapter. `list` asks for many jobs with one request. */
export type UpstreamStep = 'submit' | 'status' | 'list' | 'find' | 'cancel' | 'generate' | 'resume';
export type UpstreamResult = 'ok' | UpstreamOutcome | 'adapter_failed';

export interface LedgerMeter {
  beginAppend(): () => void;
  /** Counts an append that another process beat to the same account. */
  countCollision(): void;
}
