import { Binary } from 'mongodb';
import type { Sealed, SealedAt } from '../base/sealed.ts';

export interface Sealing {
  readonly seal: (at: SealedAt, text: string) => Sealed;
  /** Throws if the key is missing, or if the text was sealed for another location. */
  readonly open: (at: SealedAt, sealed: Sealed) => string;
}

export interface SealedDocument {
  readonly key: string;
  readonly data: Binary;
  /**
   * A copy of the value's first bytes. No two values start with the same bytes, so these are enough to detect a
   * change.
   */
  readonly head: Binary;
}

export type SealedParts = Readonly<Record<string, SealedDocument>>;

const headBytes = 16;

export function toSealedDocument({ keyId, data }: Sealed): SealedDocument {
  return { key: keyId, data: new Binary(data), head: new Binary(data.subarray(0, headBytes)) };
}

export function toSealed({ key, data }: SealedDocument): Sealed {
  return { keyId: key, data: data.value() };
}
