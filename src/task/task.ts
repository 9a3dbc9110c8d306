import { failureOfTaskCode } from '../errors/failure.ts';
import type { Failure } from '../errors/failure.ts';
import type { StoredMedia } from '../models/stored-media.ts';
import type { TaskErrorCode } from '../errors/errors.ts';

export const unfinishedStatuses = ['pending', 'submitted', 'running'] as const;
/** The API's status values, in the only order in which they can occur. */
export const taskStatuses = [...unfinishedStatuses, 'succeeded', 'failed'] as const;
export type TaskStatus = (typeof taskStatuses)[number];

/** What operators can use to find a task: its names, or words from its failures. */
export const taskNamings = ['task', 'request_id', 'upstream_id', 'marker', 'error'] as const;
export type TaskNaming = (typeof taskNamings)[number];

export function isTerminal(status: TaskStatus): boolean {
  return status === 'succeeded' || status === 'failed';
}

/** The `message` that GET returns, by status. */
export const statusMessages: Record<TaskStatus, string> = {
  pending: 'The task is waiting to be submitted.',
  submitted: 'The task is submitted.',
  running: 'Generation is in progress.',
  succeeded: 'The task succeeded.',
  failed: 'The task failed.',
};

/** A failure's reason, in sentences. */
export interface SaidOfFailure {
  /** The message for everyone. Does not contain the caller's words. */
  readonly message: string;
  /**
   * The message for the caller only, because it may quote the request. Absent if the caller also receives `message`.
   */
  readonly messageToCaller?: string;
}

/** Prefixes the messages with the upstream's code. */
export function behindCode(code: string, { message, messageToCaller }: SaidOfFailure): SaidOfFailure {
  const own = messageToCaller === undefined ? {} : { messageToCaller: `${code}: ${messageToCaller}` };
  return { message: `${code}: ${message}`, ...own };
}

/** The reason for a task's failure. Its class is absent until the task has ended. */
export interface TaskError extends SaidOfFailure, Partial<Failure> {
  readonly code: TaskErrorCode;
}

/** Gives every failed task a class, derived from the upstream's message or, failing that, implied by its code. */
export function classified(error: TaskError): TaskError & Failure {
  return { ...failureOfTaskCode(error.code), ...error };
}

/** A delivered video or image. `expiresAt` is in Unix seconds. */
export interface ResultItem {
  readonly url?: string;
  readonly base64?: string;
  readonly lastFrameUrl?: string;
  readonly expiresAt?: number;
  /** The gateway's own copy of the result. */
  readonly stored?: StoredMedia;
}
