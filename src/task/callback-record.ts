/** Lists are ordered with the newest attempt last. Times are in Unix milliseconds. */
export interface CallbackRecord {
  readonly state: CallbackState;
  /** The scheme and host only, because the rest of a caller's address may contain secrets. */
  readonly target: string;
  readonly attempts: readonly CallbackAttempt[];
  /** Identifies the current series of attempts: the task's own series, or one that an operator requested. */
  readonly round: string;
  /** The number of attempts in the current round. An attempt is counted before its request is sent. */
  readonly begun: number;
  /** Set when an operator requests a redelivery. If absent, the callback has been due since the task ended. */
  readonly since?: number;
  readonly isFailing?: boolean;
  /** Earlier rounds, newest last. They must not send any more requests. */
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
