/** Facts read from the file's bytes. The file name and the sender's claims are ignored. */
export interface MediaFacts {
  readonly mediaType: string;
  /** As displayed, in pixels. */
  readonly width?: number;
  readonly height?: number;
  /** Undefined if the file contains no credible length. */
  readonly seconds?: number;
}
