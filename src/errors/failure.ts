import type { TaskErrorCode } from './errors.ts';
import type { UpstreamOutcome } from './upstream-outcome.ts';

/**
 * The failure classes, which have the same meaning for every vendor.
 * - `moderation_input`, `moderation_output`: the content of the request or the result was rejected.
 * - `invalid_input`: the request itself is wrong.
 * - `quota`: the operator's vendor account has a problem with its key, balance, quota or permissions.
 * - `capacity`: the vendor was overloaded or unreachable.
 * - `expired`, `cancelled`: the job ran out of time or was cancelled.
 * - `internal`: something broke at the vendor or in the gateway.
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

export function isModeration(kind: FailureClass | undefined): boolean {
  return kind === 'moderation_input' || kind === 'moderation_output';
}

export const moderatedInputs = ['prompt', 'image', 'video', 'audio'] as const;
export type ModeratedInput = (typeof moderatedInputs)[number];

export interface Failure {
  readonly class: FailureClass;
  /**
   * The field at fault, if the vendor reports one for `invalid_input`. Uses the vendor's name unless the adapter knows
   * the caller's.
   */
  readonly field?: string;
  readonly input?: ModeratedInput;
}

const classOfOutcome: Record<UpstreamOutcome, FailureClass> = {
  not_sent: 'capacity',
  throttled: 'capacity',
  unavailable: 'quota',
  rejected: 'invalid_input',
  ambiguous: 'internal',
};

export function failureOfOutcome(outcome: UpstreamOutcome): Failure {
  return { class: classOfOutcome[outcome] };
}

const classOfCode: Record<TaskErrorCode, FailureClass> = {
  provider_error: 'internal',
  task_expired: 'expired',
  task_cancelled: 'cancelled',
  internal_error: 'internal',
};

export function failureOfTaskCode(code: TaskErrorCode): Failure {
  return { class: classOfCode[code] };
}
