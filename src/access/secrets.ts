import { randomBytes } from 'node:crypto';
import type { RootKeyStore } from '../store/root-key.ts';
import { createSealer, keyRing, type Sealer } from './sealer.ts';

/** An HMAC or ciphertext made for one purpose is invalid for all others. */
export type DerivedPurpose =
  | 'api-key-hmac'
  | 'operator-token-hmac'
  | 'invitation-hmac'
  | 'idempotency-hmac'
  | 'payload-codec'
  | 'act-ids'
  | 'media-link'
  | 'ledger'
  | 'error-words'
  | 'receipt-keys';

export interface Secrets extends Sealer {
  deriveKey(purpose: DerivedPurpose): Buffer;
}

const rootBytes = 32;

export function createSecrets(keys: readonly Uint8Array[], root: Uint8Array): Secrets {
  return { ...createSealer(keys), deriveKey: keyRing(root) };
}

/**
 * The first start on a database generates a random root and stores it sealed. Keys are derived from this root rather
 * than from SECRETS_KEY, because stored HMACs of API keys cannot be recomputed after a rotation. Throws SealError if
 * SECRETS_KEY lacks this database's key.
 */
export async function openSecrets(keys: readonly Uint8Array[], stored: RootKeyStore): Promise<Secrets> {
  const sealer = createSealer(keys);
  const at = { purpose: 'root-key', id: stored.id } as const;
  let sealed = await stored.find();
  while (sealed === undefined) {
    // If several processes start at once, they all use the root that was stored first.
    await stored.insert(sealer.seal(at, randomBytes(rootBytes).toString('base64')));
    sealed = await stored.find();
  }
  return createSecrets(keys, Buffer.from(sealer.open(at, sealed), 'base64'));
}
