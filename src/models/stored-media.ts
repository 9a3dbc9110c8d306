/** Our own copy of a result's files. A new link to it is generated whenever the result is shown. */
export interface StoredMedia {
  /** `<n>.<extension>` */
  readonly name: string;
  /** Of its bytes, in hexadecimal. */
  readonly sha256: string;
  readonly lastFrame?: string;
  /** Unix seconds: retention counts from here. */
  readonly at: number;
}

export interface MediaLink {
  readonly url: string;
  /** Unix seconds. */
  readonly expiresAt: number;
}

/** The link to a stored file; undefined: it is no longer kept, or this gateway keeps none. */
export type MediaUrl = (task: string, name: string, storedAt: number) => MediaLink | undefined;

export const noMediaUrl: MediaUrl = () => undefined;

/** Base64 text: whole, or in pieces of any length. */
export type Base64Text = string | { readonly chunks: readonly Uint8Array[] };

export interface KeptImage extends MediaLink {
  readonly stored: StoredMedia;
}

/**
 * Stores the images of one request (`img_…`), or of a task, in order. Rejects if one cannot be stored: with a TypeError or
 * a RangeError, if no repetition changes that.
 */
export type KeepImages = (image: string, data: readonly Base64Text[]) => Promise<readonly KeptImage[]>;

/** Of a file: this many first bytes say what it is. */
export const signatureBytes = 16;
