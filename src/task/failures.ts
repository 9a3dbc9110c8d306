import type { TaskError } from './task.ts';

export const inputUnreadable = 'input_unreadable';

/** Errors that the gateway reports itself because there is no error from the upstream. */
export const taskFailures = {
  upstream: { code: 'provider_error', message: 'The upstream failed.' },
  expired: {
    code: 'task_expired',
    message: 'The task did not finish before its deadline. Nothing was charged.',
  },
  expiredUnread: {
    code: 'task_expired',
    message:
      'The task did not finish before its deadline, because the price depends on the length of an input video, which the gateway could not read. Nothing was charged.',
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
