/** Read from the file's bytes, because its name and the type that its sender states may be wrong. */
export interface MediaFacts {
  readonly mediaType: string;
  readonly width?: number;
  readonly height?: number;
  readonly seconds?: number;
}
