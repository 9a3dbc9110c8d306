/** Facts read from a file's bytes. The file name and the sender's claims are ignored. */
export interface MediaFacts {
  readonly mediaType: string;
  /** In pixels, as displayed. */
  readonly width?: number;
  readonly height?: number;
  /** Undefined if the file states no plausible length. */
  readonly seconds?: number;
}
