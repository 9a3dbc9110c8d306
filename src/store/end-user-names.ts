import { Buffer } from 'node:buffer';
import { createCipheriv, createDecipheriv, createHmac, hash, hkdfSync } from 'node:crypto';
import { isPlain } from '../base/plain-text.ts';

/**
 * The names of end users as the database holds them. A name always has the same pseudonym, so that spending is counted
 * by it. Nobody without the key can read a pseudonym, or find out whether it is that of a name.
 */
export interface EndUserNames {
  readonly hide: (name: string) => string;
  /** Returns what it was given if that is not a pseudonym of this key. */
  readonly read: (pseudonym: string) => string;
}

const prefix = 'eu_';
const tagBytes = 16;
const nameCharactersMax = 256;

/**
 * AES-256 in CBC, whose initialisation vector is the HMAC of the name under another key, as in SIV: the HMAC is checked
 * after decryption. The padding hides the length of short names.
 *
 * @param key - 32 bytes that outlive SECRETS_KEY, since entries of the ledger are never rewritten.
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

/** The SHA-256 of a name that is too long or cannot be shown, so that two such users stay two. */
function shownName(name: string): string {
  if (name.length <= nameCharactersMax && isPlain(name)) return name;
  return `sha256:${hash('sha256', name, 'hex')}`;
}
