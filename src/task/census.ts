import type { AttentionReason } from './attention.ts';
import type { FailureClass } from '../errors/failure.ts';
import type { ChannelHealth } from '../health/channel-health.ts';
import type { Micros } from '../money/money.ts';
import type { StateName } from './state.ts';
import type { WaitReason } from './wait.ts';

/** A snapshot of system-wide counts. Times are in Unix milliseconds. */
export interface Census {
  readonly at: number;
  readonly currency: string;
  readonly tasks: readonly TaskCount[];
  readonly attention: readonly AttentionCount[];
  readonly money: LedgerTotals;
  /** The slots of channels that have a limit. */
  readonly slots: readonly { readonly channel: string; readonly inUse: number; readonly limit: number }[];
  readonly health: readonly ChannelHealth[];
  readonly callbacks: readonly CallbackCount[];
  readonly copies: readonly { readonly state: 'retry' | 'gave_up'; readonly count: number }[];
  /** The last verification's summary. Undefined if the ledger has never been verified. */
  readonly verification?: VerificationSummary;
}

/** The summary of a completed ledger verification. Times are in Unix milliseconds. */
export interface VerificationSummary {
  readonly startedAt: number;
  readonly endedAt: number;
  readonly violations: number;
}

/** The states of tasks that are not yet submitted, or no longer are. */
export const unsubmittedStates = ['creating', 'queued', 'pausing'] as const satisfies readonly StateName[];

export interface TaskCount {
  readonly state: StateName;
  /** The channel that has the job, or the next channel to submit to. */
  readonly channel: string;
  /** The reason for the wait. Empty if the task is not waiting for anything specific. */
  readonly wait: WaitReason | '';
  readonly count: number;
  /** The time when the oldest of these tasks entered the state. */
  readonly since: number;
}

/** The number of tasks that are waiting for an operator for the same reason. */
export interface AttentionCount {
  readonly reason: AttentionReason;
  /** The task's channel. Empty if it has none yet, or no longer has one. */
  readonly channel: string;
  readonly count: number;
  /** When the oldest of these tasks entered its state. */
  readonly since: number;
}

/** `failing`: an attempt has failed and another will follow. */
export interface CallbackCount {
  readonly state: 'due' | 'failing' | 'abandoned';
  readonly count: number;
  /** When the oldest of these callbacks became due. */
  readonly since?: number;
}

/** Totals across all accounts. */
export interface LedgerTotals {
  readonly available: Micros;
  readonly held: Micros;
  /** The number of accounts with a negative available balance. */
  readonly overdrawn: number;
}

/** The outcomes of a period's tasks. */
export interface Throughput {
  readonly created: number;
  readonly succeeded: number;
  readonly failures: readonly { readonly class: FailureClass; readonly count: number }[];
}

/**
 * The time from the end of the render to the end of the task. Covers succeeded tasks whose vendor reports when the
 * render ended.
 */
export interface Lateness {
  readonly tasks: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
}

/** The current states of tasks that were created in a period and sent to one channel. */
export interface ChannelCounts {
  readonly channel: string;
  readonly tasks: number;
  readonly succeeded: number;
  readonly failures: readonly { readonly class: FailureClass; readonly count: number }[];
  /** The mean time from creation to end of the tasks that succeeded. Absent if none has. */
  readonly meanMs?: number;
  readonly longestMs?: number;
}
