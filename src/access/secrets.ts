import { randomBytes } from 'node:crypto';
import type { RootKeyStore } from '../store/root-key.ts';
import { createSealer, keyRing } from './sealer.ts';
import type { Sealer } from './sealer.ts';

/** What a key is derived for: no two purposes share key material, so no HMAC or ciphertext fits another place. */
export type DerivedPurpose =
  | 'api-key-hmac'
  | 'operator-token-hmac'
  | 'idempotency-hmac'
  | 'payload-codec'
  | 'act-ids'
  | 'media-link'
  | 'ledger'
  | 'receipt-keys';

export interface Secrets extends Sealer {
  /** 32 bytes, always the same for one database and purpose, whatever SECRETS_KEY holds. */
  deriveKey(purpose: DerivedPurpose): Buffer;
}

const rootBytes = 32;

/** `root`: 32 bytes from which `deriveKey` derives. */
export function createSecrets(keys: readonly Uint8Array[], root: Uint8Array): Secrets {
  return { ...createSealer(keys), deriveKey: keyRing(root) };
}

/**
 * The root is random, made by the first start on a database and stored there, sealed: nobody can rewrite the HMAC of a
 * key that only its owner has, so what is derived must outlive each key of SECRETS_KEY. Throws SealError when SECRETS_KEY
 * lacks the key of this database.
 */
export async function openSecrets(keys: readonly Uint8Array[], stored: RootKeyStore): Promise<Secrets> {
  const sealer = createSealer(keys);
  const at = { purpose: 'root-key', id: stored.id } as const;
  let sealed = await stored.find();
  while (sealed === undefined) {
    // Several processes may start at once: the first one's is everybody's.
    await stored.insert(sealer.seal(at, randomBytes(rootBytes).toString('base64')));
    sealed = await stored.find();
  }
  return createSecrets(keys, Buffer.from(sealer.open(at, sealed), 'base64'));
}
