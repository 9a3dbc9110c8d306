/**
 * A data URL in a JSON body whose bytes lie in a file, or its base64 alone. The bytes are read and encoded while the request is sent: 60 MiB as
 * one string hold the event loop for half a second.
 */
export class FileDataUrl {
  readonly mediaType: string;
  readonly path: string;
  /** Of the file. */
  readonly bytes: number;
  /** What stands before the base64; empty: nothing does. */
  readonly head: string;

  constructor(
    file: { readonly mediaType: string; readonly path: string; readonly bytes: number },
    head = `data:${file.mediaType};base64,`,
  ) {
    this.mediaType = file.mediaType;
    this.path = file.path;
    this.bytes = file.bytes;
    this.head = head;
  }

  /** What only looks at the body reads this. */
  toJSON(): string {
    return `${this.head}[${this.bytes} bytes of a file]`;
  }
}

/** What a request may send as JSON. */
export type OutgoingJson =
  | string
  | number
  | boolean
  | null
  | FileDataUrl
  | readonly OutgoingJson[]
  | OutgoingObject;
export type OutgoingObject = { readonly [key: string]: OutgoingJson };
