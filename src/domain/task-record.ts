import type { AttentionReason } from './attention.ts';
import type { Cost } from './cost.ts';
import type { Failure } from './failure.ts';
import type { WaitReason } from './wait-reason.ts';
import type { ResultItem, SettleFacts, TaskError, TaskKind, TaskStatus } from './task.ts';

/**
 * The projection of a task: what GET shows, kept by the activities that change the facts. Times in Unix milliseconds.
 */
export interface Task {
  readonly id: string;
  readonly account: string;
  readonly key: string;
  readonly kind: TaskKind;
  readonly model: string;
  readonly status: TaskStatus;
  /** `workflowTime · 1000 + counter` of the last write that came from the workflow: an older write matches nothing. */
  readonly version: bigint;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly completedAt?: number;
  readonly deadlineAt: number;
  readonly traceId: string;
  /** What decides how long it renders, as `renderedOutput` names it. Absent where the projection was restored. */
  readonly output?: string;
  readonly channel?: string;
  readonly credential?: string;
  readonly upstreamId?: string;
  /** 0-100. */
  readonly progress?: number;
  /** Jobs ahead of this one in the upstream's queue, as last reported. */
  readonly queuePosition?: number;
  /** Written by the poll that saw the end; visible to callers only once the status is final. */
  readonly outcome?: TaskOutcome;
  readonly error?: TaskError;
  readonly hold: bigint;
  /** What it is expected to be charged, according to its plan. Absent where the projection was restored. */
  readonly estimate?: bigint;
  readonly charge?: bigint;
  /** The upstream reported no usage: the charge comes from the formula or the hold. */
  readonly chargeEstimated?: boolean;
  /** Why an operator is needed; absent if none is. */
  readonly attention?: AttentionReason;
  /** What it waits for without a person. */
  readonly waitsFor?: WaitReason;
  /**
   * Until the workflow has claimed the task: which try of its creation owns it, and since when
   * (`<padded time>-<random>`). This value guards an abandonment of the creation; a try that continues it puts a value
   * of its own here; the workflow removes it. Each is one write, so that only one of them succeeds.
   */
  readonly unstarted?: string;
  readonly actions?: readonly TaskActionRecord[];
}

export type TaskOutcome =
  | {
      readonly kind: 'succeeded';
      readonly items: readonly ResultItem[];
      readonly facts: SettleFacts;
      readonly cost?: Cost;
    }
  | {
      readonly kind: 'failed';
      readonly code: string;
      readonly message: string;
      readonly failure?: Failure;
      /** Links that the upstream delivered and callers must not follow: for operators only. */
      readonly withheld?: readonly string[];
      readonly cost?: Cost;
    };

export interface TaskActionRecord {
  /** Of the update that acted: a record is written once. Absent for `redeliver`, which is not an update. */
  readonly id?: string;
  readonly at: number;
  readonly by: string;
  readonly action: string;
  readonly reason: string;
  /** What was done. */
  readonly detail: string;
}
