import type { AttentionReason } from '../task/attention.ts';
import type { FailureClass } from '../errors/failure.ts';
import type { ChannelHealth } from '../health/channel-health.ts';
import type { Micros } from '../money/money.ts';
import type { StateName } from '../task/state.ts';
import type { WaitReason } from '../task/wait.ts';

/** Times are in Unix milliseconds. */
export interface Census {
  readonly at: number;
  readonly currency: string;
  readonly tasks: readonly TaskCount[];
  readonly attention: readonly AttentionCount[];
  readonly money: LedgerTotals;
  /** Channels without a limit are omitted. */
  readonly slots: readonly { readonly channel: string; readonly inUse: number; readonly limit: number }[];
  readonly health: readonly ChannelHealth[];
  readonly callbacks: readonly CallbackCount[];
  readonly copies: readonly { readonly state: 'retry' | 'gave_up'; readonly count: number }[];
  readonly verification?: VerificationSummary;
}

export interface VerificationSummary {
  readonly startedAt: number;
  readonly endedAt: number;
  readonly violations: number;
}

/** Tasks in these states have no upstream job yet, or are waiting to be resubmitted. */
export const unsubmittedStates = ['creating', 'queued', 'pausing'] as const satisfies readonly StateName[];

export interface TaskCount {
  readonly state: StateName;
  readonly channel: string;
  readonly wait: WaitReason | '';
  readonly count: number;
  readonly since: number;
}

export interface AttentionCount {
  readonly reason: AttentionReason;
  readonly channel: string;
  readonly count: number;
  readonly since: number;
}

/** `failing` means that an attempt has failed and will be retried. */
export interface CallbackCount {
  readonly state: 'due' | 'failing' | 'abandoned';
  readonly count: number;
  readonly since?: number;
}

export interface LedgerTotals {
  readonly available: Micros;
  readonly held: Micros;
  readonly overdrawn: number;
}

export interface Throughput {
  readonly created: number;
  readonly succeeded: number;
  readonly failures: readonly { readonly class: FailureClass; readonly count: number }[];
}

/**
 * How long callers waited for a result after the vendor had finished it. Only succeeded tasks whose vendor reports that
 * time are included.
 */
export interface Lateness {
  readonly tasks: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
}

/** Counts of the tasks that were created in a period and sent to one channel, by their current state. */
export interface ChannelCounts extends Pick<Throughput, 'succeeded' | 'failures'> {
  readonly channel: string;
  readonly tasks: number;
  /** The mean time from creation to completion of the succeeded tasks. Absent if no task succeeded. */
  readonly meanMs?: number;
  readonly longestMs?: number;
}
