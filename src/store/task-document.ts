import type { AttentionReason } from '../domain/attention.ts';
import type { Cost } from '../domain/cost.ts';
import type { Failure } from '../domain/failure.ts';
import type { ResultItem, SettleFacts, TaskError, TaskKind, TaskStatus } from '../domain/task.ts';

/** The projection of a task: what GET shows, kept by the activities that change the facts. Times in Unix milliseconds. */
export interface TaskDocument {
  readonly _id: string;
  readonly account: string;
  readonly key: string;
  readonly kind: TaskKind;
  readonly model: string;
  readonly status: TaskStatus;
  /** `workflowTime · 1000 + counter` of the last write that came from the workflow: an older write matches nothing. */
  readonly version: bigint;
  /** Sorts by creation, newest last; unique. */
  readonly sort: string;
  readonly created_at: number;
  readonly updated_at: number;
  readonly completed_at?: number;
  readonly deadline_at: number;
  readonly trace_id: string;
  readonly channel?: string;
  readonly credential?: string;
  readonly upstream_id?: string;
  /** 0-100. */
  readonly progress?: number;
  /** Jobs before this one in the upstream's queue, as it said last. */
  readonly queue_position?: number;
  /** Written by the poll that saw the end; visible to callers only once the status says so. */
  readonly outcome?: TaskOutcomeDocument;
  readonly error?: TaskError;
  readonly hold: bigint;
  readonly charge?: bigint;
  /** The upstream told no usage: the charge comes from the formula or the hold. */
  readonly charge_estimated?: boolean;
  /** Why an operator is needed; absent: none is. */
  readonly attention?: AttentionReason;
  /**
   * Until the workflow has claimed the task: which try of its creation stands behind it, and since when
   * (`<padded time>-<random>`). Who gives the creation up is guarded by this value; who continues it puts a value of
   * its own here; the workflow takes it away. Each is one write, so that only one of them succeeds.
   */
  readonly unstarted?: string;
  /** The creation was given up: its hold is voided, then this document is removed. No workflow claims it any more. */
  readonly given_up?: true;
  /** The key, while the task is unfinished: counts against the key's `concurrent_tasks`. */
  readonly open_key?: string;
  readonly actions?: readonly TaskActionRecord[];
}

export type TaskOutcomeDocument =
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
      /** Absent in tasks of older versions. */
      readonly failure?: Failure;
      /** Links that the upstream delivered and nobody may follow: for operators only. */
      readonly withheld?: readonly string[];
      readonly cost?: Cost;
    };

export interface TaskActionRecord {
  readonly at: number;
  readonly by: string;
  readonly action: string;
  readonly reason: string;
}

export interface NewTask {
  readonly id: string;
  readonly account: string;
  readonly key: string;
  readonly kind: TaskKind;
  readonly model: string;
  readonly createdAt: number;
  readonly deadlineAt: number;
  readonly hold: bigint;
  /** See `TaskDocument.unstarted`; absent: the workflow itself writes the projection. */
  readonly unstarted?: string;
}

/** Fixed width, so that strings sort as times do. */
export function sortKey(createdAt: number, id: string): string {
  return `${paddedTime(createdAt)}-${id}`;
}

export function paddedTime(milliseconds: number): string {
  return milliseconds.toString().padStart(14, '0');
}

/** A value for `TaskDocument.unstarted`: no two tries share one. */
export function unstartedSince(milliseconds: number, random: string): string {
  return `${paddedTime(milliseconds)}-${random}`;
}
