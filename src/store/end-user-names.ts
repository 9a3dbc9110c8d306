import { Buffer } from 'node:buffer';
import { createCipheriv, createDecipheriv, createHmac, hash, hkdfSync } from 'node:crypto';
import { isPlain } from '../base/plain-text.ts';

/**
 * The database stores pseudonyms instead of end users' names. A name always has the same pseudonym, so spending can be
 * counted per user. Nobody can read a pseudonym or match it with a name without the key.
 */
export interface EndUserNames {
  readonly hide: (name: string) => string;
  /** Returns the argument unchanged if it is not a pseudonym of this key. */
  readonly read: (pseudonym: string) => string;
}

const prefix = 'eu_';
const tagBytes = 16;
const nameCharactersMax = 256;

/**
 * Encrypts names with AES-256-CBC. As in SIV, the initialisation vector is an HMAC of the name, and is checked after
 * decryption. Padding hides the length of short names.
 * @param key - 32 bytes that must outlive SECRETS_KEY, because ledger entries are never rewritten.
 */
export function createEndUserNames(key: Uint8Array): EndUserNames {
  const derive = (purpose: string): Buffer =>
    Buffer.from(hkdfSync('sha256', key, 'mediary', `end-user-${purpose}`, 32));
  const [forTag, forName] = [derive('tag'), derive('name')];
  const tagOf = (name: string): Buffer =>
    createHmac('sha256', forTag).update(name).digest().subarray(0, tagBytes);

  function decrypt(data: Buffer): string | undefined {
    const [tag, hidden] = [data.subarray(0, tagBytes), data.subarray(tagBytes)];
    try {
      const decipher = createDecipheriv('aes-256-cbc', forName, tag);
      const name = Buffer.concat([decipher.update(hidden), decipher.final()]).toString('utf8');
      return tagOf(name).equals(tag) ? name : undefined;
    } catch {
      return undefined;
    }
  }

  return {
    hide(given) {
      const name = shownName(given);
      const tag = tagOf(name);
      const cipher = createCipheriv('aes-256-cbc', forName, tag);
      const hidden = [cipher.update(name, 'utf8'), cipher.final()];
      return `${prefix}${Buffer.concat([tag, ...hidden]).toString('base64url')}`;
    },

    read(pseudonym) {
      if (!pseudonym.startsWith(prefix)) return pseudonym;
      return decrypt(Buffer.from(pseudonym.slice(prefix.length), 'base64url')) ?? pseudonym;
    },
  };
}

/** Replaces names that are too long or unprintable with their SHA-256, so that such users remain distinct. */
function shownName(name: string): string {
  if (name.length <= nameCharactersMax && isPlain(name)) return name;
  return `sha256:${hash('sha256', name, 'hex')}`;
}
