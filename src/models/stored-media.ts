export interface StoredMedia {
  readonly name: string;
  readonly sha256: string;
  readonly lastFrame?: string;
  /** Start of the retention period, in Unix seconds. */
  readonly at: number;
}

export interface MediaLink {
  readonly url: string;
  readonly expiresAt: number;
}

export type MediaUrl = (task: string, name: string, storedAt: number) => MediaLink | undefined;

export const noMediaUrl: MediaUrl = () => undefined;

export type Base64Text = string | { readonly chunks: readonly Uint8Array[] };

export interface KeptImage extends MediaLink {
  readonly stored: StoredMedia;
}

/**
 * Stores the images of a request (`img_…`) or a task, in order. Rejects if any image cannot be stored. The error is an
 * UnkeepableError if another attempt would not help.
 */
export type KeepImages = (image: string, data: readonly Base64Text[]) => Promise<readonly KeptImage[]>;

export class UnkeepableError extends Error {}

export const signatureBytes = 16;
