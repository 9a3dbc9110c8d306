/** What the upstream reported as consumed; absent fields were not reported. */
export interface Usage {
  readonly completionTokens?: number;
  readonly totalTokens?: number;
}

/**
 * The facts of a finished upstream job that decide the charge. Small and free of secrets: they pass through
 * Temporal. Links do not; they are written to the record by the poll that saw them.
 */
export interface SettleFacts {
  readonly usage?: Usage;
  readonly durationSeconds?: number;
  /** Where the upstream bills other seconds than it rendered: those of its inputs, too. */
  readonly billedSeconds?: number;
  readonly resolution?: string;
  readonly ratio?: string;
  readonly size?: string;
  readonly quality?: string;
  readonly generateAudio?: boolean;
  readonly images?: number;
  /** The upstream reported a number that cannot be true: it is left out, and a person is asked about the charge. */
  readonly incredible?: true;
}

/** More tokens, seconds or images than this in one job are a misread answer. */
export const measureMax = 1e12;
