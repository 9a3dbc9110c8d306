import { Binary } from 'mongodb';
import type { Sealed } from '../domain/sealed.ts';

/** A sealed value as MongoDB holds it. */
export interface SealedDocument {
  /** Id of the key that opens it. */
  readonly key: string;
  readonly data: Binary;
}

export function toSealedDocument({ keyId, data }: Sealed): SealedDocument {
  return { key: keyId, data: new Binary(data) };
}

export function toSealed({ key, data }: SealedDocument): Sealed {
  return { keyId: key, data: data.value() };
}
