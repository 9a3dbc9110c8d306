import type { TaskError } from './task.ts';

/** What a failed task says where its upstream has not said it: one sentence per reason, and nowhere else. */
export const taskFailures = {
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
