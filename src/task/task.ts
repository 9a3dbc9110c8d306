import { failureOfTaskCode } from '../errors/failure.ts';
import type { Failure } from '../errors/failure.ts';
import type { StoredMedia } from '../models/stored-media.ts';
import type { TaskErrorCode } from '../errors/errors.ts';

export const unfinishedStatuses = ['pending', 'submitted', 'running'] as const;
/** The status values of the contract, in their only order. */
export const taskStatuses = [...unfinishedStatuses, 'succeeded', 'failed'] as const;
export type TaskStatus = (typeof taskStatuses)[number];

/** What operators find a task by. */
export const taskNamings = ['task', 'request_id', 'upstream_id', 'marker'] as const;
export type TaskNaming = (typeof taskNamings)[number];

export function isTerminal(status: TaskStatus): boolean {
  return status === 'succeeded' || status === 'failed';
}

/** What GET says in `message`, by status. */
export const statusMessages: Record<TaskStatus, string> = {
  pending: 'The task is waiting to be submitted.',
  submitted: 'The task is submitted.',
  running: 'Generation is in progress.',
  succeeded: 'The task succeeded.',
  failed: 'The task failed.',
};

/** Why something failed, in words. */
export interface SaidOfFailure {
  /** The message for everybody, without the caller's words. */
  readonly message: string;
  /** The message for the caller alone, as it may repeat the caller's words. Absent: the caller reads `message`. */
  readonly messageToCaller?: string;
}

/** Puts the upstream's code in front of the messages. */
export function behindCode(code: string, { message, messageToCaller }: SaidOfFailure): SaidOfFailure {
  const own = messageToCaller === undefined ? {} : { messageToCaller: `${code}: ${messageToCaller}` };
  return { message: `${code}: ${message}`, ...own };
}

/** Why a task failed. Its class is absent until the task has ended. */
export interface TaskError extends SaidOfFailure, Partial<Failure> {
  readonly code: TaskErrorCode;
}

/** Every failed task has a class: the one that matches its upstream's words, otherwise that of its code. */
export function classified(error: TaskError): TaskError & Failure {
  return { ...failureOfTaskCode(error.code), ...error };
}

/** One delivered video or image. `expiresAt` in Unix seconds. */
export interface ResultItem {
  readonly url?: string;
  readonly base64?: string;
  readonly lastFrameUrl?: string;
  readonly expiresAt?: number;
  /** Our own copy. */
  readonly stored?: StoredMedia;
}
