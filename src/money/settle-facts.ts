/** What the upstream reported as consumed; absent fields were not reported. */
export interface Usage {
  /** Of what was rendered, its text apart. */
  readonly completionTokens?: number;
  /** Of everything. */
  readonly totalTokens?: number;
  /** Of text that was rendered. */
  readonly textTokens?: number;
  /** Of what was given: those that were not cached. */
  readonly inputTextTokens?: number;
  readonly inputImageTokens?: number;
  readonly inputAudioTokens?: number;
  readonly inputVideoTokens?: number;
  readonly cachedTokens?: number;
}

/** Images that are alike. */
export interface ImageGroup {
  readonly images: number;
  readonly size?: string;
  readonly quality?: string;
}

/**
 * The facts of a finished upstream job that decide the charge. Small and free of secrets: they pass through
 * Temporal. Links do not; they are written to the record by the poll that saw them.
 */
export interface SettleFacts {
  readonly usage?: Usage;
  readonly durationSeconds?: number;
  readonly frames?: number;
  /** Of the videos that were given. */
  readonly inputSeconds?: number;
  /** Images that were given. */
  readonly inputImages?: number;
  readonly resolution?: string;
  readonly ratio?: string;
  readonly size?: string;
  readonly quality?: string;
  readonly generateAudio?: boolean;
  readonly images?: number;
  /** Where images differ: what they are, at least two groups. `size` and `quality` are those that all have. */
  readonly groups?: readonly ImageGroup[];
  /** Facts that the upstream did not report, and the stored result has. */
  readonly measured?: readonly ('duration' | 'size' | 'resolution' | 'ratio')[];
  /** The upstream reported a number that cannot be true: it is left out, and a person is asked about the charge. */
  readonly incredible?: true;
}

/** More tokens, seconds or images than this in one job are a misread answer. */
export const measureMax = 1e12;
