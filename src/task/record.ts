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
 * Everything about a task except its money and the caller's request. Times are in Unix milliseconds. Only `next`
 * (next.ts) changes `state` and its associated fields. Progress, waits and concerns are observations that no decision
 * depends on.
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
   * The video length, in seconds, for which the hold was taken. It is charged if no length is reported. Absent if the
   * request does not determine a length.
   */
  readonly seconds?: number;
  /** Absent if the upstream chooses the shape or the task produces images. */
  readonly shape?: VideoShape;
  /**
   * The total length of the request's videos in seconds, measured after the hold was taken, and `unmeasured` until
   * then. Absent if the length was known earlier or does not affect the price.
   */
  readonly inputSeconds?: number | 'unmeasured';
  /** Channels that do not report the input length. They receive the task only after the length has been measured. */
  readonly inputNeededBy?: readonly string[];
  /** Names what is rendered, which determines the render time. See `renderedOutput`. */
  readonly output: string;
  readonly hold: bigint;
  /** The plan's expected charge, in micro-units. */
  readonly estimate?: bigint;
  readonly hasCallback: boolean;

  /**
   * Incremented with every state change. A change is written only if the record still has the revision that it was
   * based on.
   */
  readonly rev: number;
  readonly state: TaskState;
  readonly stateSince: number;
  /** The public status for the state. It never moves backwards. */
  readonly status: TaskStatus;
  readonly attempts: readonly Attempt[];
  /** Channels that specified a time before which they must not be contacted again. */
  readonly resting?: readonly Rest[];
  /** The outcome reported by the upstream or an operator. Callers see it once the status is final. */
  readonly outcome?: TaskOutcome;
  readonly error?: TaskError;
  readonly charge?: bigint;
  /** Set if the upstream reported no usage, so the charge comes from the formula or the hold. */
  readonly chargeEstimated?: boolean;
  /** The known part of the upstream bills, in micro-units. Absent until the task has ended. */
  readonly cost?: bigint;
  readonly costUnknown?: number;
  readonly actions?: readonly TaskActionRecord[];
  readonly updatedAt: number;
  readonly completedAt?: number;
  readonly traceId: string;
  /** The creating request's W3C trace context, so that later steps belong to the same trace. */
  readonly traceparent?: string;

  /** The channel that has or may have the job. */
  readonly channel?: string;
  readonly credential?: string;
  readonly upstreamId?: string;
  /** Percent (0-100). */
  readonly progress?: number;
  /** The number of jobs ahead in the upstream's queue, as last reported. */
  readonly queuePosition?: number;
  /** The current wait. Like the earlier ones, it is for display only: no decision depends on it. */
  readonly wait?: Wait;
  readonly waited?: readonly PastWait[];
  /** Why an operator should look at the task, even though it continues. */
  readonly concern?: Concern;
  readonly attention?: AttentionReason;
  readonly callback?: CallbackRecord;
}

export interface TaskPlan {
  readonly candidates: readonly RouteCandidate[];
  /** Where another job may replace one that failed upstream. If absent, the task ends instead. */
  readonly fallback?: Fallback;
}

/** A channel to leave alone for a while. The time counts from the start of the task's current work or pause. */
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
       * When the render ended according to the vendor, but no later than when we noticed. Absent if the vendor does not
       * report this time.
       */
      readonly renderedAt?: number;
    }
  | (SaidOfFailure & {
      readonly kind: 'failed';
      readonly code: string;
      readonly failure?: Failure;
      /** Links from the upstream that callers must not follow. Only operators see them. */
      readonly withheld?: readonly string[];
      readonly unbilled?: true;
      readonly cost?: Cost;
    });

export interface TaskActionRecord {
  /** The id of the update that performed the action. It prevents a second entry for the same action. */
  readonly id: string;
  readonly at: number;
  readonly by: string;
  readonly action: string;
  readonly reason: string;
  readonly detail: string;
}
