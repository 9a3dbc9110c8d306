import type { TaskErrorCode } from './errors.ts';
import type { TaskError } from './task.ts';

/** What a failed task says where its upstream has not said it: one sentence per reason, and nowhere else. */
const failures = {
  upstream: { code: 'provider_error', message: 'The upstream failed.' },
  expired: {
    code: 'task_expired',
    message: 'The task did not finish before its deadline. Nothing was charged.',
  },
  cancelled: { code: 'task_cancelled', message: 'The task was cancelled. Nothing was charged.' },
  operator: {
    code: 'internal_error',
    message: 'The task was ended by the operator of this service. Nothing was charged.',
  },
  interrupted: {
    code: 'internal_error',
    message: 'The task was interrupted inside the service. Nothing was charged.',
  },
} as const satisfies Record<string, TaskError>;

export const taskFailures: Readonly<Record<keyof typeof failures, TaskError>> = failures;

/** The reason that is known where only the code is left: a projection that is rebuilt. */
export function failureOfCode(code: TaskErrorCode): TaskError {
  switch (code) {
    case 'provider_error':
      return taskFailures.upstream;
    case 'task_expired':
      return taskFailures.expired;
    case 'task_cancelled':
      return taskFailures.cancelled;
    case 'internal_error':
      return taskFailures.interrupted;
    default:
      return code satisfies never;
  }
}
