const dayMs = 86_400_000;

export interface Retention {
  readonly requestsMs: number;
  readonly exchangesMs: number;
  /**
   * How long a task's record, and everything that belongs to it, is kept after the task has ended. Undefined means
   * forever.
   */
  readonly tasksMs?: number;
}

export interface RetentionDays {
  readonly requests_days: number;
  readonly exchanges_days: number;
  readonly tasks_days?: number | undefined;
}

export const retentionDaysDefault = { requests_days: 30, exchanges_days: 90 } as const;

export function retentionOf({ requests_days, exchanges_days, tasks_days }: RetentionDays): Retention {
  return {
    requestsMs: requests_days * dayMs,
    exchangesMs: exchanges_days * dayMs,
    ...(tasks_days === undefined ? {} : { tasksMs: tasks_days * dayMs }),
  };
}

export const defaultRetention = retentionOf(retentionDaysDefault);
