/**
 * A data URL (or bare base64) in a JSON body whose bytes stay in a file until the request is sent. Building one string
 * from 60 MiB would block the event loop for half a second.
 */
export class FileDataUrl {
  readonly mediaType: string;
  readonly path: string;
  readonly bytes: number;
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

  /** Returns a placeholder for code that only inspects the body. */
  toJSON(): string {
    return `${this.head}[${this.bytes} bytes of a file]`;
  }
}

/** A JSON request body in which any string can be a FileDataUrl. */
export type OutgoingJson =
  | string
  | number
  | boolean
  | null
  | FileDataUrl
  | readonly OutgoingJson[]
  | OutgoingObject;
export type OutgoingObject = { readonly [key: string]: OutgoingJson };
