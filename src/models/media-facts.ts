/** Facts read from a file's bytes. The file name and the sender's claims are ignored. */
export interface MediaFacts {
  readonly mediaType: string;
  readonly width?: number;
  readonly height?: number;
  readonly seconds?: number;
}
