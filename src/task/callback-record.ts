/** A task's callback: every attempt, newest last. Times in Unix milliseconds. */
export interface CallbackRecord {
  readonly state: CallbackState;
  /** Only scheme and host: the rest of a caller's address may hold secrets. */
  readonly target: string;
  readonly attempts: readonly CallbackAttempt[];
  /** The series of attempts that is in force: the task's own, or one on demand. */
  readonly round: string;
  /** Attempts of this round that were begun; each is counted before its request leaves. */
  readonly begun: number;
  /** From when on a round on demand owes the callback; absent: it is owed since the task's end. */
  readonly since?: number;
  /** An attempt of this round has failed, and another one follows. */
  readonly isFailing?: boolean;
  /** The rounds that this one replaced, newest last: none of them sends again. */
  readonly replaced?: readonly string[];
}

export type CallbackState = 'pending' | 'delivered' | 'gave_up';

export interface CallbackAttempt {
  readonly at: number;
  readonly durationMs: number;
  /** HTTP status of the answer; absent: there was none. */
  readonly status?: number;
  readonly error?: string;
}
