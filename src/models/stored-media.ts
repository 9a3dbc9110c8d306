/** Our own copy of a result's files. Each time the result is returned, a new link to it is generated. */
export interface StoredMedia {
  /** `<n>.<extension>` */
  readonly name: string;
  /** The hexadecimal SHA-256 of the file's bytes. */
  readonly sha256: string;
  readonly lastFrame?: string;
  /** The start of retention in Unix seconds. */
  readonly at: number;
}

export interface MediaLink {
  readonly url: string;
  /** Unix seconds. */
  readonly expiresAt: number;
}

/** Returns a link to a stored file, or undefined if the file has been removed or the gateway stores no files. */
export type MediaUrl = (task: string, name: string, storedAt: number) => MediaLink | undefined;

export const noMediaUrl: MediaUrl = () => undefined;

/** Base64 text, either whole or in pieces of any length. */
export type Base64Text = string | { readonly chunks: readonly Uint8Array[] };

export interface KeptImage extends MediaLink {
  readonly stored: StoredMedia;
}

/**
 * Stores the images of a request (`img_…`) or a task, in order. Rejects if one cannot be stored: with an
 * UnkeepableError if retrying cannot help.
 */
export type KeepImages = (image: string, data: readonly Base64Text[]) => Promise<readonly KeptImage[]>;

/** Thrown if the images themselves cannot be stored. */
export class UnkeepableError extends Error {}

/** The number of leading bytes that identify a file type. */
export const signatureBytes = 16;
