import { failureOfTaskCode, type Failure } from '../errors/failure.ts';
import type { StoredMedia } from '../models/stored-media.ts';
import type { TaskErrorCode } from '../errors/errors.ts';

export const unfinishedStatuses = ['pending', 'submitted', 'running'] as const;
/** A task passes through these in order and ends in one of the last two. */
export const taskStatuses = [...unfinishedStatuses, 'succeeded', 'failed'] as const;
export type TaskStatus = (typeof taskStatuses)[number];

export const taskNamings = ['task', 'request_id', 'upstream_id', 'marker', 'error'] as const;
export type TaskNaming = (typeof taskNamings)[number];

export function isTerminal(status: TaskStatus): boolean {
  return status === 'succeeded' || status === 'failed';
}

export const statusMessages: Record<TaskStatus, string> = {
  pending: 'The task is waiting to be submitted.',
  submitted: 'The task is submitted.',
  running: 'Generation is in progress.',
  succeeded: 'The task succeeded.',
  failed: 'The task failed.',
};

export interface SaidOfFailure {
  /** Shown to everyone, so it must not contain any of the caller's text. */
  readonly message: string;
  /** For the caller only, because it may quote the request. Absent if `message` suffices. */
  readonly messageToCaller?: string;
}

export function behindCode(code: string, { message, messageToCaller }: SaidOfFailure): SaidOfFailure {
  const own = messageToCaller === undefined ? {} : { messageToCaller: `${code}: ${messageToCaller}` };
  return { message: `${code}: ${message}`, ...own };
}

/** `class` is missing until the task has ended. */
export interface TaskError extends SaidOfFailure, Partial<Failure> {
  readonly code: TaskErrorCode;
}

/** The class comes from the upstream's failure. If there is none, it comes from the error's code. */
export function classified(error: TaskError): TaskError & Failure {
  return { ...failureOfTaskCode(error.code), ...error };
}

/** `expiresAt` is in Unix seconds. */
export interface ResultItem {
  readonly url?: string;
  readonly base64?: string;
  readonly lastFrameUrl?: string;
  readonly expiresAt?: number;
  readonly stored?: StoredMedia;
}
