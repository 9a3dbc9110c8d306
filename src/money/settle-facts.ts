/** The usage reported by the upstream. Absent fields were not reported. */
export interface Usage {
  /** The tokens of rendered output, excluding text. */
  readonly completionTokens?: number;
  /** The combined tokens of input and output. */
  readonly totalTokens?: number;
  /** The tokens of rendered text. */
  readonly textTokens?: number;
  /** The input tokens by kind, excluding cached ones. */
  readonly inputTextTokens?: number;
  readonly inputImageTokens?: number;
  readonly inputAudioTokens?: number;
  readonly inputVideoTokens?: number;
  readonly cachedTokens?: number;
}

/** A group of images with the same facts. */
export interface ImageGroup {
  readonly images: number;
  readonly size?: string;
  readonly quality?: string;
}

/**
 * The facts of a finished upstream job that determine the charge. They pass through Temporal, so they are small and
 * contain no secrets. Links do not: the poll that receives them writes them to the record.
 */
export interface SettleFacts {
  readonly usage?: Usage;
  readonly durationSeconds?: number;
  readonly frames?: number;
  /** The total length of the input videos, in seconds. */
  readonly inputSeconds?: number;
  readonly inputImages?: number;
  readonly resolution?: string;
  readonly ratio?: string;
  readonly size?: string;
  readonly quality?: string;
  readonly generateAudio?: boolean;
  readonly images?: number;
  /**
   * Groups of images with different facts. Absent if all images are alike. `size` and `quality` above apply to all
   * images.
   */
  readonly groups?: readonly ImageGroup[];
  /**
   * Facts that were read from the result or, for `input_seconds`, from the request's videos, because the upstream did
   * not report them. `size` means the size of at least one image.
   */
  readonly measured?: readonly MeasuredFact[];
  /**
   * Set if the upstream reported an impossible number. The number is dropped, and an operator decides on the charge.
   */
  readonly incredible?: true;
}

export const measuredFacts = ['duration', 'size', 'resolution', 'ratio', 'input_seconds'] as const;
export type MeasuredFact = (typeof measuredFacts)[number];

/** The maximum credible number of tokens, seconds or images per job. A response with more must have been misread. */
export const measureMax = 1e12;
