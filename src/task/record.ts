import type { AttentionReason, Concern } from './attention.ts';
import type { Attempt } from './attempt.ts';
import type { CallbackRecord } from './callback-record.ts';
import type { Cost } from '../money/cost.ts';
import type { Failure } from '../errors/failure.ts';
import type { Fallback } from './rescue.ts';
import type { RouteCandidate } from './candidates.ts';
import type { TaskState } from './state.ts';
import type { PastWait, Wait } from './wait.ts';
import type { ResultItem, SaidOfFailure, TaskError, TaskStatus } from './task.ts';
import type { SettleFacts } from '../money/settle-facts.ts';
import type { TaskKind } from '../base/task-kind.ts';
import type { VideoShape } from '../models/video-shapes.ts';

/**
 * The record of a task: the whole truth about it, its money and what its caller wrote apart. Times in Unix
 * milliseconds. `state` and what belongs to it are changed by `next` (next.ts) alone; progress, waits and concerns
 * are what the state's work has seen, and decide nothing.
 */
export interface Task {
  readonly id: string;
  readonly account: string;
  readonly key: string;
  readonly kind: TaskKind;
  readonly model: string;
  readonly plan: TaskPlan;
  readonly createdAt: number;
  /** Of the request that created it, as its caller or the gateway has named it. */
  readonly requestId?: string;
  readonly deadlineAt: number;
  /** Of the video that its hold is for: what is paid for where nobody reports the length. Absent: nothing names it. */
  readonly seconds?: number;
  /** What its video is asked to look like. Absent: it is open, or the task makes images. */
  readonly shape?: VideoShape;
  /** What decides how long it renders, as `renderedOutput` names it. */
  readonly output: string;
  readonly hold: bigint;
  /** What it is expected to be charged, according to its plan. */
  readonly estimate?: bigint;
  readonly hasCallback: boolean;

  /** Counts the changes of the state: a change is written only on the one that it was decided on. */
  readonly rev: number;
  readonly state: TaskState;
  readonly stateSince: number;
  /** What the contract calls the state; it only moves forward. */
  readonly status: TaskStatus;
  readonly attempts: readonly Attempt[];
  /** Channels that named a time before which they are not to be asked. */
  readonly resting?: readonly Rest[];
  /** What the upstream, or an operator, reported as the job's end; visible to callers once the status is final. */
  readonly outcome?: TaskOutcome;
  readonly error?: TaskError;
  readonly charge?: bigint;
  /** The upstream reported no usage: the charge comes from the formula or the hold. */
  readonly chargeEstimated?: boolean;
  /** What is known of what its upstreams bill. Absent: it has not ended. */
  readonly cost?: bigint;
  /** Attempts that may be billed, and nothing says how much. */
  readonly costUnknown?: number;
  readonly actions?: readonly TaskActionRecord[];
  readonly updatedAt: number;
  readonly completedAt?: number;
  readonly traceId: string;
  /** Of the request that created it, as W3C names it: its later steps belong to the same trace. Absent: it has none. */
  readonly traceparent?: string;

  /** Where the job is, or may be. */
  readonly channel?: string;
  readonly credential?: string;
  readonly upstreamId?: string;
  /** 0-100. */
  readonly progress?: number;
  /** Jobs ahead of this one in the upstream's queue, as last reported. */
  readonly queuePosition?: number;
  /** The present wait and the past ones. They are for display: no decision depends on them. */
  readonly wait?: Wait;
  readonly waited?: readonly PastWait[];
  /** What a person should look at although the task continues. */
  readonly concern?: Concern;
  /** Why an operator is needed; absent if none is. */
  readonly attention?: AttentionReason;
  readonly callback?: CallbackRecord;
}

/** Frozen when the task is created. */
export interface TaskPlan {
  /** In the order in which they are tried. */
  readonly candidates: readonly RouteCandidate[];
  /** Where the task goes when its job fails at the upstream; absent: nowhere. */
  readonly fallback?: Fallback;
}

/** A channel that is not to be asked so long, counted from when the work began, or the pause, that the task is at. */
export interface Rest extends RouteCandidate {
  readonly ms: number;
}

export type TaskOutcome =
  | {
      readonly kind: 'succeeded';
      readonly items: readonly ResultItem[];
      readonly facts: SettleFacts;
      readonly cost?: Cost;
      /** When its render ended, as the vendor says, and not later than it was seen here. Absent: it does not say. */
      readonly renderedAt?: number;
    }
  | (SaidOfFailure & {
      readonly kind: 'failed';
      readonly code: string;
      readonly failure?: Failure;
      /** Links that the upstream delivered and callers must not follow: for operators only. */
      readonly withheld?: readonly string[];
      /** The upstream charges nothing for it. */
      readonly unbilled?: true;
      readonly cost?: Cost;
    });

export interface TaskActionRecord {
  /** Of the update that acted: a record is written once. */
  readonly id: string;
  readonly at: number;
  readonly by: string;
  readonly action: string;
  readonly reason: string;
  /** What was done. */
  readonly detail: string;
}
