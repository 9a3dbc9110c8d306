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
 * Contains everything about a task except its money and the caller's request. Times are in Unix milliseconds. Only
 * `next` (next.ts) changes `state` and the fields that belong to it. Progress, waits and concerns are for display only.
 */
export interface Task {
  readonly id: string;
  readonly account: string;
  readonly key: string;
  readonly kind: TaskKind;
  readonly model: string;
  readonly plan: TaskPlan;
  readonly createdAt: number;
  readonly requestId?: string;
  readonly deadlineAt: number;
  /**
   * The video length on which the hold is based, in seconds. This length is charged if the upstream does not report
   * one. Absent if the request does not determine a length.
   */
  readonly seconds?: number;
  /** Absent for images, and if the upstream chooses the shape. */
  readonly shape?: VideoShape;
  /**
   * The total length of the request's videos in seconds, or `unmeasured` until it is known. Absent if it was known when
   * the hold was taken or does not affect the price.
   */
  readonly inputSeconds?: number | 'unmeasured';
  /** Channels that do not report the length of input videos, so it must be measured before they receive the task. */
  readonly inputNeededBy?: readonly string[];
  /** Identifies the kind of output, which determines the expected render time. See `renderedOutput`. */
  readonly output: string;
  readonly hold: bigint;
  /** The expected charge, in micro-units. */
  readonly estimate?: bigint;
  readonly hasCallback: boolean;

  /**
   * Increases with every state change. A write succeeds only if the revision has not changed since the record was read.
   */
  readonly rev: number;
  readonly state: TaskState;
  readonly stateSince: number;
  /** The status never moves backwards. */
  readonly status: TaskStatus;
  readonly attempts: readonly Attempt[];
  /** Channels that must not be contacted before a certain time, because they asked for that. */
  readonly resting?: readonly Rest[];
  /** Reported by the upstream or an operator. Callers see it only once the status is final. */
  readonly outcome?: TaskOutcome;
  readonly error?: TaskError;
  readonly charge?: bigint;
  /** Set if the upstream reported no usage, so the charge is based on the formula or the hold. */
  readonly chargeEstimated?: boolean;
  /** What upstreams billed for the task, as far as known, in micro-units. Absent until the task has ended. */
  readonly cost?: bigint;
  readonly costUnknown?: number;
  readonly actions?: readonly TaskActionRecord[];
  readonly updatedAt: number;
  readonly completedAt?: number;
  readonly traceId: string;
  /** From the request that created the task, so that later steps belong to the same W3C trace. */
  readonly traceparent?: string;

  /** The channel that has, or may have, the upstream job. */
  readonly channel?: string;
  readonly credential?: string;
  readonly upstreamId?: string;
  /** Percent. */
  readonly progress?: number;
  /** The position that the upstream last reported. */
  readonly queuePosition?: number;
  /** For display only. The same applies to the earlier waits. */
  readonly wait?: Wait;
  readonly waited?: readonly PastWait[];
  readonly concern?: Concern;
  readonly attention?: AttentionReason;
  readonly callback?: CallbackRecord;
}

export interface TaskPlan {
  readonly candidates: readonly RouteCandidate[];
  /** The channels on which a failed job may be replaced. If absent, the task ends when its job fails. */
  readonly fallback?: Fallback;
}

/** `ms` counts from the start of the task's current step or pause. */
export interface Rest extends RouteCandidate {
  readonly ms: number;
}

export type TaskOutcome =
  | {
      readonly kind: 'succeeded';
      readonly items: readonly ResultItem[];
      readonly facts: SettleFacts;
      readonly cost?: Cost;
      /**
       * When the render ended, as reported by the vendor, but never later than when we noticed. Absent if the vendor
       * does not report it.
       */
      readonly renderedAt?: number;
    }
  | (SaidOfFailure & {
      readonly kind: 'failed';
      readonly code: string;
      readonly failure?: Failure;
      /** Links that callers must not follow. Only operators see them. */
      readonly withheld?: readonly string[];
      readonly unbilled?: true;
      readonly cost?: Cost;
    });

export interface TaskActionRecord {
  /** The id of the Temporal update. It prevents a second entry for the same action. */
  readonly id: string;
  readonly at: number;
  readonly by: string;
  readonly action: string;
  readonly reason: string;
  readonly detail: string;
}
