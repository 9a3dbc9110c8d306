import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

/** What a key is derived for: no two purposes share key material, so no ciphertext or HMAC fits another place. */
export type SecretPurpose =
  | 'api-key-hmac'
  | 'operator-token-hmac'
  | 'idempotency-hmac'
  | 'webhook-secret'
  | 'request'
  | 'payload-codec'
  | 'media-link';

export interface Secrets {
  /** 32 bytes, always the same for one SECRETS_KEY and purpose. */
  deriveKey(purpose: SecretPurpose): Buffer;
  /** Encrypts a text for storage; every call gives another result. */
  seal(purpose: SecretPurpose, text: string): string;
  /** Throws SealError when the text was sealed with another key or for another purpose, or was changed. */
  open(purpose: SecretPurpose, sealed: string): string;
}

export class SealError extends Error {
  constructor(cause?: unknown) {
    super('a sealed value cannot be opened: it was made with another SECRETS_KEY, or it is damaged', {
      cause,
    });
    this.name = 'SealError';
  }
}

const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;
const formatPrefix = 'v1.';

/** AES-256-GCM under keys that HKDF-SHA256 derives from SECRETS_KEY. Wire form: `v1.` + base64url(nonce, tag, ciphertext). */
export function createSecrets(master: Uint8Array): Secrets {
  if (master.length !== keyBytes) throw new RangeError(`SECRETS_KEY has ${keyBytes} bytes`);
  const derived = new Map<SecretPurpose, Buffer>();
  const deriveKey = (purpose: SecretPurpose): Buffer => {
    const known = derived.get(purpose);
    if (known !== undefined) return known;
    const key = Buffer.from(hkdfSync('sha256', master, 'mediary', purpose, keyBytes));
    derived.set(purpose, key);
    return key;
  };
  return {
    deriveKey,

    seal(purpose, text) {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv('aes-256-gcm', deriveKey(purpose), nonce);
      const ciphertext = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return formatPrefix + Buffer.concat([nonce, cipher.getAuthTag(), ciphertext]).toString('base64url');
    },

    open(purpose, sealed) {
      const bytes = Buffer.from(sealed.slice(formatPrefix.length), 'base64url');
      if (!sealed.startsWith(formatPrefix) || bytes.length < nonceBytes + tagBytes) throw new SealError();
      const nonce = bytes.subarray(0, nonceBytes);
      const decipher = createDecipheriv('aes-256-gcm', deriveKey(purpose), nonce, {
        authTagLength: tagBytes,
      });
      decipher.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
      try {
        const text = decipher.update(bytes.subarray(nonceBytes + tagBytes));
        return Buffer.concat([text, decipher.final()]).toString('utf8');
      } catch (error) {
        throw new SealError(error);
      }
    },
  };
}
