import type { TaskErrorCode } from './errors.ts';
import type { UpstreamOutcome } from './upstream-outcome.ts';

/**
 * What a failure was, in words that mean the same for every vendor.
 * - `moderation_input`, `moderation_output`: the content of the request, or what was rendered, was refused.
 * - `invalid_input`: the request itself is wrong.
 * - `quota`: the operator's account with the vendor: its key, balance, quota or permissions.
 * - `capacity`: the vendor was overloaded, or could not be reached.
 * - `expired`, `cancelled`: the job ran out of time, or was cancelled.
 * - `internal`: something broke, at the vendor or here.
 */
export const failureClasses = [
  'moderation_input',
  'moderation_output',
  'invalid_input',
  'quota',
  'capacity',
  'expired',
  'cancelled',
  'internal',
] as const;
export type FailureClass = (typeof failureClasses)[number];

/** The content was refused, be it what was asked for or what was rendered. */
export function isModeration(kind: FailureClass | undefined): boolean {
  return kind === 'moderation_input' || kind === 'moderation_output';
}

export const moderatedInputs = ['prompt', 'image', 'video', 'audio'] as const;
export type ModeratedInput = (typeof moderatedInputs)[number];

export interface Failure {
  readonly class: FailureClass;
  /**
   * `invalid_input`: the field that the vendor named, in the vendor's spelling unless the adapter knows the caller's.
   */
  readonly field?: string;
  /** `moderation_input`: which part of the request was refused, if the vendor reports it. */
  readonly input?: ModeratedInput;
}

const classOfOutcome: Record<UpstreamOutcome, FailureClass> = {
  not_sent: 'capacity',
  throttled: 'capacity',
  unavailable: 'quota',
  rejected: 'invalid_input',
  ambiguous: 'internal',
};

/** For a refusal about which nothing else is known. */
export function failureOfOutcome(outcome: UpstreamOutcome): Failure {
  return { class: classOfOutcome[outcome] };
}

const classOfCode: Record<TaskErrorCode, FailureClass> = {
  provider_error: 'internal',
  task_expired: 'expired',
  task_cancelled: 'cancelled',
  internal_error: 'internal',
};

/** For a failed task whose upstream said nothing about it. */
export function failureOfTaskCode(code: TaskErrorCode): Failure {
  return { class: classOfCode[code] };
}
