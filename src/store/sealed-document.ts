import { Binary } from 'mongodb';
import type { Sealed, SealedAt } from '../base/sealed.ts';

/** Encrypts what is stored and decrypts what was. */
export interface Sealing {
  readonly seal: (at: SealedAt, text: string) => Sealed;
  /** Throws if the key is missing, or if the text was sealed for another place. */
  readonly open: (at: SealedAt, sealed: Sealed) => string;
}

/** A sealed value as MongoDB holds it. */
export interface SealedDocument {
  /** Id of the key that opens it. */
  readonly key: string;
  readonly data: Binary;
  /** Its first bytes again: no two values begin alike, and a guard by them is small. */
  readonly head: Binary;
}

/** The values of one field, by name. */
export type SealedParts = Readonly<Record<string, SealedDocument>>;

const headBytes = 16;

export function toSealedDocument({ keyId, data }: Sealed): SealedDocument {
  return { key: keyId, data: new Binary(data), head: new Binary(data.subarray(0, headBytes)) };
}

export function toSealed({ key, data }: SealedDocument): Sealed {
  return { keyId: key, data: data.value() };
}
