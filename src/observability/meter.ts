import type { UpstreamOutcome } from '../errors/upstream-outcome.ts';

/** What is counted and timed of requests to upstreams. */
export interface UpstreamMeter {
  /** A call of an adapter begins; it has ended when the answer is called. */
  beginUpstream(channel: string, step: UpstreamStep): (result: UpstreamResult) => void;
}

/** The adapters' methods: `list` asks about many jobs in one request. */
export type UpstreamStep = 'submit' | 'status' | 'list' | 'find' | 'cancel' | 'generate' | 'resume';
/** `adapter_failed`: it threw something else than an UpstreamError. */
export type UpstreamResult = 'ok' | UpstreamOutcome | 'adapter_failed';

export interface LedgerMeter {
  /** A batch of the ledger's operations begins; it has ended when the answer is called. */
  beginAppend(): () => void;
  /** Another process wrote to the account first. */
  countCollision(): void;
}
