export interface Usage {
  readonly completionTokens?: number;
  readonly totalTokens?: number;
  readonly textTokens?: number;
  /** Excludes cached tokens. */
  readonly inputTextTokens?: number;
  readonly inputImageTokens?: number;
  readonly inputAudioTokens?: number;
  readonly inputVideoTokens?: number;
  readonly cachedTokens?: number;
}

export interface ImageGroup {
  readonly images: number;
  readonly size?: string;
  readonly quality?: string;
}

/**
 * These facts of a finished job determine the charge. They pass through Temporal, so they are small and contain no
 * secrets. Result links never pass through Temporal, because the poll that receives them writes them to the record.
 */
export interface SettleFacts {
  readonly usage?: Usage;
  readonly durationSeconds?: number;
  readonly frames?: number;
  readonly inputSeconds?: number;
  readonly inputImages?: number;
  readonly resolution?: string;
  readonly ratio?: string;
  readonly size?: string;
  readonly quality?: string;
  readonly generateAudio?: boolean;
  readonly images?: number;
  /**
   * Groups of images with different facts. Undefined if all images are alike. `size` and `quality` above apply to all
   * images.
   */
  readonly groups?: readonly ImageGroup[];
  /**
   * Facts that the upstream did not report. They were read from the result or, in the case of `input_seconds`, from the
   * request's videos. `size` means that the size of at least one image was measured.
   */
  readonly measured?: readonly MeasuredFact[];
  /**
   * Set if the upstream reported an impossible number. That number is dropped, and an operator decides on the charge.
   */
  readonly incredible?: true;
}

export const measuredFacts = ['duration', 'size', 'resolution', 'ratio', 'input_seconds'] as const;
export type MeasuredFact = (typeof measuredFacts)[number];

export const measureMax = 1e12;
