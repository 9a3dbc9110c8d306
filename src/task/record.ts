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
 * A task's record: everything about it except its money and the caller's request. Times are in Unix milliseconds. Only
 * `next` (next.ts) changes `state` and its associated fields. Progress, waits and concerns are observations that no
 * decision depends on.
 */
export interface Task {
  readonly id: string;
  readonly account: string;
  readonly key: string;
  readonly kind: TaskKind;
  readonly model: string;
  readonly plan: TaskPlan;
  readonly createdAt: number;
  /** The id of the request that created the task, chosen by the caller or the gateway. */
  readonly requestId?: string;
  readonly deadlineAt: number;
  /**
   * The video length, in seconds, for which the hold was taken. Charged if no length is reported. Absent if the request
   * does not determine a length.
   */
  readonly seconds?: number;
  /** The requested video shape. Absent if the upstream chooses it or the task produces images. */
  readonly shape?: VideoShape;
  /**
   * The total length of the request's videos in seconds, measured after the hold was taken. `unmeasured` until then.
   * Absent if it was known earlier or does not affect the price.
   */
  readonly inputSeconds?: number | 'unmeasured';
  /** Channels that receive the task only after that length is measured, because they do not report it. */
  readonly inputNeededBy?: readonly string[];
  /** The output, which determines the render time. See `renderedOutput`. */
  readonly output: string;
  readonly hold: bigint;
  /** The plan's expected charge, in micro-units. */
  readonly estimate?: bigint;
  readonly hasCallback: boolean;

  /**
   * The revision, incremented with every state change. A change is written only if the record still has the revision
   * that it was based on.
   */
  readonly rev: number;
  readonly state: TaskState;
  readonly stateSince: number;
  /** The public status for the state. It never moves backwards. */
  readonly status: TaskStatus;
  readonly attempts: readonly Attempt[];
  /** Channels that specified a time before which they must not be contacted again. */
  readonly resting?: readonly Rest[];
  /** The job's outcome, as reported by the upstream or an operator. Callers see it once the status is final. */
  readonly outcome?: TaskOutcome;
  readonly error?: TaskError;
  readonly charge?: bigint;
  /** Set if the upstream reported no usage, so that the charge comes from the formula or the hold. */
  readonly chargeEstimated?: boolean;
  /** The known part of the upstream bills, in micro-units. Absent until the task has ended. */
  readonly cost?: bigint;
  /** The number of attempts that may be billed an unknown amount. */
  readonly costUnknown?: number;
  readonly actions?: readonly TaskActionRecord[];
  readonly updatedAt: number;
  readonly completedAt?: number;
  readonly traceId: string;
  /**
   * The creating request's W3C trace context, so that later steps belong to the same trace. Absent if there is none.
   */
  readonly traceparent?: string;

  /** The channel that has, or may have, the job. */
  readonly channel?: string;
  readonly credential?: string;
  readonly upstreamId?: string;
  /** The progress in percent (0-100). */
  readonly progress?: number;
  /** The number of jobs ahead in the upstream's queue, as last reported. */
  readonly queuePosition?: number;
  /** The current wait and earlier ones. For display only: no decision depends on them. */
  readonly wait?: Wait;
  readonly waited?: readonly PastWait[];
  /** The reason why an operator should look at the task, even though it continues. */
  readonly concern?: Concern;
  /** The reason why the task needs an operator. Absent if it does not. */
  readonly attention?: AttentionReason;
  readonly callback?: CallbackRecord;
}

/** The plan, frozen when the task is created. */
export interface TaskPlan {
  /** The candidates in the order of attempts. */
  readonly candidates: readonly RouteCandidate[];
  /** The channels for another job if the task's job fails upstream. If absent, the task ends. */
  readonly fallback?: Fallback;
}

/** A channel that must not be contacted for this long, counted from the start of the task's current work or pause. */
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
       * report it.
       */
      readonly renderedAt?: number;
    }
  | (SaidOfFailure & {
      readonly kind: 'failed';
      readonly code: string;
      readonly failure?: Failure;
      /** Links from the upstream that callers must not follow. Only operators see them. */
      readonly withheld?: readonly string[];
      /** Set if the upstream charges nothing for the job. */
      readonly unbilled?: true;
      readonly cost?: Cost;
    });

export interface TaskActionRecord {
  /** The id of the update that performed the act, so that it is recorded only once. */
  readonly id: string;
  readonly at: number;
  readonly by: string;
  readonly action: string;
  readonly reason: string;
  /** A description of what was done. */
  readonly detail: string;
}
