import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { sealedFields, type Sealed, type SealedAt, type SealPurpose } from '../base/sealed.ts';

export interface Sealer {
  readonly keyId: string;
  /** The nonce is random, so sealing the same text twice gives different results. */
  seal(at: SealedAt, text: string): Sealed;
  /** Throws SealError if the key is missing, the value was modified, or the value was sealed for another `at`. */
  open(at: SealedAt, sealed: Sealed): string;
}

export class SealError extends Error {
  override readonly name = 'SealError';
}

const keyBytes = 32;
const keyIdBytes = 4;
const nonceBytes = 12;
const tagBytes = 16;

/**
 * Seals with AES-256-GCM, under keys derived by HKDF-SHA256 from those in SECRETS_KEY. The first key seals, and any of
 * the keys can open. The sealed data consists of the nonce, tag and ciphertext. `at` is authenticated but not stored. A
 * key's id reveals nothing about the key.
 */
export function createSealer(masters: readonly Uint8Array[]): Sealer {
  const keys = new Map(masters.map((master) => [keyIdOf(master), keyRing(master)]));
  const [keyId] = keys.keys();
  if (keyId === undefined) throw new RangeError('SECRETS_KEY contains no key');
  const keyFor = (id: string, purpose: SealPurpose): Buffer => {
    const key = keys.get(id);
    if (key !== undefined) return key(purpose);
    throw new SealError(
      `a sealed value needs the key ${id}, and SECRETS_KEY contains ${[...keys.keys()].join(', ')}`,
    );
  };
  return {
    keyId,

    seal(at, text) {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv('aes-256-gcm', keyFor(keyId, at.purpose), nonce);
      cipher.setAAD(placeOf(at));
      const ciphertext = [cipher.update(text, 'utf8'), cipher.final()];
      return { keyId, data: Buffer.concat([nonce, cipher.getAuthTag(), ...ciphertext]) };
    },

    open(at, sealed) {
      const key = keyFor(sealed.keyId, at.purpose);
      try {
        return decrypt(key, sealed.data, placeOf(at));
      } catch (cause) {
        const message = `a sealed value cannot be opened with its key ${sealed.keyId}: it is damaged or belongs to another record`;
        throw new SealError(message, { cause });
      }
    },
  };
}

function placeOf({ purpose, id, part }: SealedAt): Buffer {
  const { collection, field } = sealedFields[purpose];
  return Buffer.from(JSON.stringify([collection, id, field, part ?? null]));
}

function decrypt(key: Buffer, data: Uint8Array, place: Buffer): string {
  const [nonce, tag] = [data.subarray(0, nonceBytes), data.subarray(nonceBytes, nonceBytes + tagBytes)];
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes });
  decipher.setAAD(place);
  decipher.setAuthTag(tag);
  const text = decipher.update(data.subarray(nonceBytes + tagBytes));
  return Buffer.concat([text, decipher.final()]).toString('utf8');
}

function keyIdOf(master: Uint8Array): string {
  return deriveBytes(master, 'key-id', keyIdBytes).toString('hex');
}

export function keyRing<Purpose extends string>(master: Uint8Array): (purpose: Purpose) => Buffer {
  if (master.length !== keyBytes) throw new RangeError(`a key has ${keyBytes} bytes`);
  const derived = new Map<Purpose, Buffer>();
  return (purpose) => {
    const known = derived.get(purpose);
    if (known !== undefined) return known;
    const key = deriveBytes(master, purpose, keyBytes);
    derived.set(purpose, key);
    return key;
  };
}

function deriveBytes(master: Uint8Array, label: string, bytes: number): Buffer {
  return Buffer.from(hkdfSync('sha256', master, 'mediary', label, bytes));
}
