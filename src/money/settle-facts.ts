/** What the upstream reported as consumed; absent fields were not reported. */
export interface Usage {
  /** Tokens of rendered output, without text. */
  readonly completionTokens?: number;
  /** Tokens of input and output together. */
  readonly totalTokens?: number;
  /** Tokens of rendered text. */
  readonly textTokens?: number;
  /** Input tokens of each kind, without cached ones. */
  readonly inputTextTokens?: number;
  readonly inputImageTokens?: number;
  readonly inputAudioTokens?: number;
  readonly inputVideoTokens?: number;
  readonly cachedTokens?: number;
}

/** A group of images that are alike. */
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
  /** The total length of the input videos. */
  readonly inputSeconds?: number;
  /** The number of input images. */
  readonly inputImages?: number;
  readonly resolution?: string;
  readonly ratio?: string;
  readonly size?: string;
  readonly quality?: string;
  readonly generateAudio?: boolean;
  readonly images?: number;
  /** Groups of images, only if they differ. `size` and `quality` above hold what all images share. */
  readonly groups?: readonly ImageGroup[];
  /** Facts that were read from the result because the upstream did not report them. `size`: for at least one image. */
  readonly measured?: readonly ('duration' | 'size' | 'resolution' | 'ratio')[];
  /** The upstream reported a number that cannot be true: it is left out, and a person is asked about the charge. */
  readonly incredible?: true;
}

/** More tokens, seconds or images than this in one job are a misread answer. */
export const measureMax = 1e12;
