import { createHash, createPrivateKey, createPublicKey, hkdfSync, sign } from 'node:crypto';
import { canonicalJson } from '../base/canonical-json.ts';

/** An Ed25519 public key as a JWK (RFC 8037). */
export interface PublicReceiptKey {
  readonly kty: 'OKP';
  readonly crv: 'Ed25519';
  readonly x: string;
  /** The key's thumbprint (RFC 7638). */
  readonly kid: string;
  readonly alg: 'EdDSA';
  readonly use: 'sig';
}

/**
 * Key n is derived from n and the database's root secret, so every process derives the same keys and none needs to be
 * stored. Incrementing n rotates the key. Earlier keys stay published so that older receipts can still be verified.
 */
export interface ReceiptKeys {
  /** Returns a compact JWS (RFC 7515) whose payload is the object as canonical JSON, signed with key n. */
  sign(payload: object, n: number): string;
  published(n: number): readonly PublicReceiptKey[];
}

interface KeyPair {
  readonly published: PublicReceiptKey;
  readonly sign: (text: string) => Buffer;
}

export function createReceiptKeys(secret: Uint8Array): ReceiptKeys {
  const pairs = new Map<number, KeyPair>();
  const pairOf = (n: number): KeyPair => {
    const pair = pairs.get(n) ?? derivePair(secret, n);
    pairs.set(n, pair);
    return pair;
  };
  return {
    sign(payload, n) {
      const { published, sign: signed } = pairOf(n);
      const header = base64url(canonicalJson({ alg: published.alg, kid: published.kid }));
      const content = `${header}.${base64url(canonicalJson(payload))}`;
      return `${content}.${signed(content).toString('base64url')}`;
    },
    published: (n) => Array.from({ length: n }, (_, before) => pairOf(n - before).published),
  };
}

/** The PKCS #8 prefix for the 32 bytes of an Ed25519 key (RFC 8410, section 7). */
const pkcs8Prefix = Buffer.from('302e020100300506032b657004220420', 'hex');

function derivePair(secret: Uint8Array, n: number): KeyPair {
  const seed = Buffer.from(hkdfSync('sha256', secret, 'mediary', `receipt-key-${n}`, 32));
  const key = createPrivateKey({
    key: Buffer.concat([pkcs8Prefix, seed]),
    format: 'der',
    type: 'pkcs8',
  });
  const { x = '' } = createPublicKey(key).export({ format: 'jwk' });
  const shape = { crv: 'Ed25519', kty: 'OKP', x } as const;
  const kid = createHash('sha256').update(canonicalJson(shape)).digest('base64url');
  return {
    published: { ...shape, kid, alg: 'EdDSA', use: 'sig' },
    sign: (text) => sign(null, Buffer.from(text), key),
  };
}

function base64url(text: string): string {
  return Buffer.from(text).toString('base64url');
}
