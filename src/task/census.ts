import type { AttentionReason } from './attention.ts';
import type { FailureClass } from '../errors/failure.ts';
import type { ChannelHealth } from '../health/channel-health.ts';
import type { Micros } from '../money/money.ts';
import type { StateName } from './state.ts';
import type { WaitReason } from './wait.ts';

/** The whole system, counted once. Times in Unix milliseconds. */
export interface Census {
  readonly at: number;
  readonly currency: string;
  readonly tasks: readonly TaskCount[];
  readonly attention: readonly AttentionCount[];
  readonly money: LedgerTotals;
  /** Of channels with a limit. */
  readonly slots: readonly { readonly channel: string; readonly inUse: number; readonly limit: number }[];
  readonly health: readonly ChannelHealth[];
  readonly callbacks: readonly CallbackCount[];
  readonly copies: readonly { readonly state: 'retry' | 'gave_up'; readonly count: number }[];
  /** Absent: the ledger was never verified. */
  readonly verification?: VerificationSummary;
}

/** Of a verification of the ledger that came to its end. Times in Unix milliseconds. */
export interface VerificationSummary {
  readonly startedAt: number;
  readonly endedAt: number;
  /** How many it found. */
  readonly violations: number;
}

/** Unfinished tasks of one kind. */
export interface TaskCount {
  readonly state: StateName;
  /** Where the job is, or else where it is to be submitted next. */
  readonly channel: string;
  /** Empty: it waits for nothing that has a name. */
  readonly wait: WaitReason | '';
  readonly count: number;
  /** Since when the oldest one has been in the state. */
  readonly since: number;
}

/** Tasks that wait for a person. */
export interface AttentionCount {
  readonly reason: AttentionReason;
  /** Empty: none yet, or none any more. */
  readonly channel: string;
  readonly count: number;
  /** Since when the oldest one has been in its state. */
  readonly since: number;
}

/** `failing`: an attempt has failed, and there will be another. */
export interface CallbackCount {
  readonly state: 'due' | 'failing' | 'abandoned';
  readonly count: number;
  /** Since when the oldest one is owed. */
  readonly since?: number;
}

/** Over all accounts. */
export interface LedgerTotals {
  readonly available: Micros;
  readonly held: Micros;
  /** Accounts with less than nothing available. */
  readonly overdrawn: number;
}

/** What became of the tasks of some span. */
export interface Throughput {
  readonly created: number;
  readonly succeeded: number;
  readonly failures: readonly { readonly class: FailureClass; readonly count: number }[];
}

/** From the end of the render to the task's, of tasks that succeeded and whose vendor says when it was. */
export interface Lateness {
  readonly tasks: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
}

/** Of tasks that were created in some span and sent to one channel, how they stand now. */
export interface ChannelCounts {
  readonly channel: string;
  readonly tasks: number;
  readonly succeeded: number;
  readonly failures: readonly { readonly class: FailureClass; readonly count: number }[];
  /** From creation to end, of those that succeeded. Absent: none has. */
  readonly meanMs?: number;
  readonly longestMs?: number;
}
