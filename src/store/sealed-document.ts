import { Binary } from 'mongodb';
import type { Sealed, SealedAt, SealPurpose } from '../base/sealed.ts';

export interface Sealing {
  readonly seal: (at: SealedAt, text: string) => Sealed;
  /** Throws if the key is missing, or if the text was sealed for another location. */
  readonly open: (at: SealedAt, sealed: Sealed) => string;
}

export interface SealedDocument {
  readonly key: string;
  readonly data: Binary;
  /**
   * A copy of the value's first bytes. These are different for every sealed value, so comparing them is enough to
   * detect a change.
   */
  readonly head: Binary;
}

export type SealedParts = Readonly<Record<string, SealedDocument>>;

/**
 * Each part of a field is sealed separately. A process that lacks the key of one part can therefore leave that part
 * unchanged.
 */
export function sealedParts({ seal, open }: Sealing, purpose: SealPurpose) {
  const placeOf = (id: string, part: string): SealedAt => ({ purpose, id, part });
  return {
    seal(id: string, texts: Readonly<Record<string, string>>): SealedParts {
      const parts = Object.entries(texts).map(
        ([part, text]) => [part, toSealedDocument(seal(placeOf(id, part), text))] as const,
      );
      return Object.fromEntries(parts);
    },

    /** Returns undefined if the part does not exist or this process lacks its key. */
    open(id: string, held: SealedParts, part: string): string | undefined {
      const value = held[part];
      if (value === undefined) return undefined;
      try {
        return open(placeOf(id, part), toSealed(value));
      } catch {
        return undefined;
      }
    },
  };
}

const headBytes = 16;

export function toSealedDocument({ keyId, data }: Sealed): SealedDocument {
  return { key: keyId, data: new Binary(data), head: new Binary(data.subarray(0, headBytes)) };
}

export function toSealed({ key, data }: SealedDocument): Sealed {
  return { keyId: key, data: data.value() };
}
