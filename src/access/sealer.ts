import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import type { Sealed, SealPurpose } from '../base/sealed.ts';

export interface Sealer {
  /** Id of the key that seals: the first one. */
  readonly keyId: string;
  /** Encrypts a text for storage; every call gives another result. */
  seal(purpose: SealPurpose, text: string): Sealed;
  /** Throws SealError when its key is missing, when it was sealed for another purpose, or when it was changed. */
  open(purpose: SealPurpose, sealed: Sealed): string;
}

/** A sealed value cannot be opened. The message names keys by their ids. */
export class SealError extends Error {
  override readonly name = 'SealError';
}

const keyBytes = 32;
const keyIdBytes = 4;
const nonceBytes = 12;
const tagBytes = 16;

/**
 * AES-256-GCM under keys that HKDF-SHA256 derives from those of SECRETS_KEY: the first one seals, all of them open.
 * Data: nonce, tag, ciphertext. A key's id is derived from it, too, and reveals nothing of it.
 */
export function createSealer(masters: readonly Uint8Array[]): Sealer {
  const keys = new Map(masters.map((master) => [keyIdOf(master), keyRing(master)]));
  const [keyId] = keys.keys();
  if (keyId === undefined) throw new RangeError('SECRETS_KEY holds no key');
  const keyFor = (id: string, purpose: SealPurpose): Buffer => {
    const key = keys.get(id);
    if (key !== undefined) return key(purpose);
    throw new SealError(
      `a sealed value needs the key ${id}, and SECRETS_KEY holds ${[...keys.keys()].join(', ')}`,
    );
  };
  return {
    keyId,

    seal(purpose, text) {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv('aes-256-gcm', keyFor(keyId, purpose), nonce);
      const ciphertext = [cipher.update(text, 'utf8'), cipher.final()];
      return { keyId, data: Buffer.concat([nonce, cipher.getAuthTag(), ...ciphertext]) };
    },

    open(purpose, sealed) {
      const key = keyFor(sealed.keyId, purpose);
      try {
        return decrypt(key, sealed.data);
      } catch (cause) {
        throw new SealError(`a sealed value cannot be opened with its key ${sealed.keyId}: it is damaged`, {
          cause,
        });
      }
    },
  };
}

function decrypt(key: Buffer, data: Uint8Array): string {
  const [nonce, tag] = [data.subarray(0, nonceBytes), data.subarray(nonceBytes, nonceBytes + tagBytes)];
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes });
  decipher.setAuthTag(tag);
  const text = decipher.update(data.subarray(nonceBytes + tagBytes));
  return Buffer.concat([text, decipher.final()]).toString('utf8');
}

function keyIdOf(master: Uint8Array): string {
  return deriveBytes(master, 'key-id', keyIdBytes).toString('hex');
}

/** 32 bytes for each purpose, derived once. */
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
