import type { AttentionReason } from './attention.ts';
import type { FailureClass } from '../errors/failure.ts';
import type { ChannelHealth } from '../health/channel-health.ts';
import type { Micros } from '../money/money.ts';
import type { StateName } from './state.ts';
import type { WaitReason } from './wait.ts';

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

/** Tasks in these states have no upstream job yet, or wait to be resubmitted. */
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

/** Covers the tasks of one channel that were created in a period, by their current state. */
export interface ChannelCounts {
  readonly channel: string;
  readonly tasks: number;
  readonly succeeded: number;
  readonly failures: readonly { readonly class: FailureClass; readonly count: number }[];
  /** From creation to completion, for succeeded tasks only. Absent if no task succeeded. */
  readonly meanMs?: number;
  readonly longestMs?: number;
}
