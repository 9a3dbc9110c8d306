/** Facts read from a media file's bytes. The file name and the sender's claims are ignored. */
export interface MediaFacts {
  /** The media type without parameters, such as `video/mp4`. */
  readonly mediaType: string;
  /** The displayed width and height in pixels, for images and videos. */
  readonly width?: number;
  readonly height?: number;
  /** The length of a video or audio file in seconds. Undefined if the file contains no credible length. */
  readonly seconds?: number;
}
