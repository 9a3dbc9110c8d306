import type { AttentionReason } from '../task/attention.ts';
import type { FailureClass } from '../errors/failure.ts';
import type { ChannelHealth } from '../health/channel-health.ts';
import type { Micros } from '../money/money.ts';
import type { StateName } from '../task/state.ts';
import type { WaitReason } from '../task/wait.ts';

/** System-wide counts at one moment. Times are in Unix milliseconds. */
export interface Census {
  readonly at: number;
  readonly currency: string;
  readonly tasks: readonly TaskCount[];
  readonly attention: readonly AttentionCount[];
  readonly money: LedgerTotals;
  /** Contains only channels that have a limit. */
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

/** States without a job: the task has not been submitted yet, or waits to be resubmitted. */
export const unsubmittedStates = ['creating', 'queued', 'pausing'] as const satisfies readonly StateName[];

export interface TaskCount {
  readonly state: StateName;
  readonly channel: string;
  /** Empty if the task is not waiting for anything specific. */
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

/** `failing`: an attempt has failed and another will follow. */
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
 * The time from the end of the render to the end of the task. Covers only succeeded tasks whose vendor reports when the
 * render ended.
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
  /** The mean time from creation to completion of the tasks that succeeded. Absent if none did. */
  readonly meanMs?: number;
  readonly longestMs?: number;
}
