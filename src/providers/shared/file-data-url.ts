/**
 * A data URL in a JSON body, or only its base64, with the bytes in a file. They are read and encoded during sending,
 * because building one string from 60 MiB would block the event loop for half a second.
 */
export class FileDataUrl {
  readonly mediaType: string;
  readonly path: string;
  readonly bytes: number;
  /** The text before the base64, possibly empty. */
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

  /** For code that only inspects the body. */
  toJSON(): string {
    return `${this.head}[${this.bytes} bytes of a file]`;
  }
}

/** JSON that a request may send. */
export type OutgoingJson =
  | string
  | number
  | boolean
  | null
  | FileDataUrl
  | readonly OutgoingJson[]
  | OutgoingObject;
export type OutgoingObject = { readonly [key: string]: OutgoingJson };
