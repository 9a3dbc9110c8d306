import type { AttentionReason } from '../domain/attention.ts';
import { defined } from '../domain/defined.ts';
import type { Task, TaskActionRecord, TaskOutcome } from '../domain/task-record.ts';
import type { WaitReason } from '../domain/wait-reason.ts';
import type { TaskError, TaskKind, TaskStatus } from '../domain/task.ts';

/** A task as stored. Times in Unix milliseconds; `Task` says what each field means. */
export interface TaskDocument {
  readonly _id: string;
  readonly account: string;
  readonly key: string;
  readonly kind: TaskKind;
  readonly model: string;
  readonly status: TaskStatus;
  readonly version: bigint;
  /** Sorts by creation, newest last; unique. */
  readonly sort: string;
  readonly created_at: number;
  readonly updated_at: number;
  readonly completed_at?: number;
  readonly deadline_at: number;
  readonly trace_id: string;
  readonly output?: string;
  readonly channel?: string;
  readonly credential?: string;
  readonly upstream_id?: string;
  readonly progress?: number;
  readonly queue_position?: number;
  readonly outcome?: TaskOutcome;
  readonly error?: TaskError;
  readonly hold: bigint;
  readonly estimate?: bigint;
  readonly charge?: bigint;
  readonly charge_estimated?: boolean;
  readonly attention?: AttentionReason;
  readonly waits_for?: WaitReason;
  readonly unstarted?: string;
  /** The creation was abandoned: its hold is voided, then this document is removed. No workflow claims it any more. */
  readonly given_up?: true;
  /** Ids of upstream jobs that an operator had given to the task and has taken back. */
  readonly disowned?: readonly string[];
  readonly actions?: readonly TaskActionRecord[];
}

/** What is large (the outcome, the actions) is passed on, not copied. */
export function toTask(document: TaskDocument): Task {
  const { _id: id, account, key, kind, model, status, version, hold } = document;
  const { channel, credential, progress, outcome, error, charge, attention, unstarted, actions } = document;
  return {
    id,
    account,
    key,
    kind,
    model,
    status,
    version,
    hold,
    createdAt: document.created_at,
    updatedAt: document.updated_at,
    deadlineAt: document.deadline_at,
    traceId: document.trace_id,
    ...defined({
      completedAt: document.completed_at,
      output: document.output,
      channel,
      credential,
      upstreamId: document.upstream_id,
      progress,
      queuePosition: document.queue_position,
      outcome,
      error,
      charge,
      estimate: document.estimate,
      chargeEstimated: document.charge_estimated,
      attention,
      waitsFor: document.waits_for,
      unstarted,
      actions,
    }),
  };
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
  readonly estimate?: bigint;
  readonly output?: string;
  /** See `Task.unstarted`; absent: the workflow itself writes the projection. */
  readonly unstarted?: string;
}

/** Fixed width, so that strings sort as times do. */
export function sortKey(createdAt: number, id: string): string {
  return `${paddedTime(createdAt)}-${id}`;
}

export function paddedTime(milliseconds: number): string {
  return milliseconds.toString().padStart(14, '0');
}

/** A value for `Task.unstarted`: no two tries share one. */
export function unstartedSince(milliseconds: number, random: string): string {
  return `${paddedTime(milliseconds)}-${random}`;
}
