/** What the bytes of a medium say of it, whatever its name and its sender do. */
export interface MediaFacts {
  /** Without parameters, such as `video/mp4`. */
  readonly mediaType: string;
  /** Pixels, as they are shown. Of images and videos. */
  readonly width?: number;
  readonly height?: number;
  /** Of videos and audios; absent: nothing that can be true. */
  readonly seconds?: number;
}
