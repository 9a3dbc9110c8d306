const dayMs = 86_400_000;

/** For how long things are kept that are not the ledger. Milliseconds. */
export interface Retention {
  /** What a caller wrote, from the deadline of its task on. */
  readonly requestsMs: number;
  /** Exchanges with upstreams, from the last one on. */
  readonly exchangesMs: number;
  /** Records of tasks, with what belongs to them, from their end on. Absent: they stay. */
  readonly tasksMs?: number;
}

/** `retention` of gateway.yaml. */
export interface RetentionDays {
  readonly requests_days: number;
  readonly exchanges_days: number;
  readonly tasks_days?: number | undefined;
}

export const retentionDaysDefault = { requests_days: 30, exchanges_days: 90 } as const;

/** Days → milliseconds. */
export function retentionOf({ requests_days, exchanges_days, tasks_days }: RetentionDays): Retention {
  return {
    requestsMs: requests_days * dayMs,
    exchangesMs: exchanges_days * dayMs,
    ...(tasks_days === undefined ? {} : { tasksMs: tasks_days * dayMs }),
  };
}

export const defaultRetention = retentionOf(retentionDaysDefault);
