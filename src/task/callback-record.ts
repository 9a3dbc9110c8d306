/** A task's callback and all its attempts, newest last. Times are in Unix milliseconds. */
export interface CallbackRecord {
  readonly state: CallbackState;
  /** The scheme and host only, because the rest of a caller's address may contain secrets. */
  readonly target: string;
  readonly attempts: readonly CallbackAttempt[];
  /** The current series of attempts: the task's own, or one that an operator requested. */
  readonly round: string;
  /** The number of attempts begun in this round. Each attempt is counted before its request is sent. */
  readonly begun: number;
  /**
   * When an operator's redelivery made the callback due again. Absent if the callback has been due since the task
   * ended.
   */
  readonly since?: number;
  readonly isFailing?: boolean;
  /** Earlier rounds, newest last. They send no further requests. */
  readonly replaced?: readonly string[];
}

export const callbackStates = ['pending', 'delivered', 'gave_up'] as const;
export type CallbackState = (typeof callbackStates)[number];

export interface CallbackAttempt {
  readonly at: number;
  readonly durationMs: number;
  readonly status?: number;
  readonly error?: string;
}
