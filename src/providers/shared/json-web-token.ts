import { createHmac } from 'node:crypto';

export interface TokenTerms {
  readonly algorithm: 'HS256' | 'HS384' | 'HS512';
  readonly issuer: string;
  readonly secret: string;
  readonly lifetimeSeconds: number;
  readonly now: number;
}

/** Tokens become valid this much earlier, in case the vendor's clock is slow. */
const clockSlackSeconds = 5;

export function jsonWebToken({ algorithm, issuer, secret, lifetimeSeconds, now }: TokenTerms): string {
  const seconds = Math.floor(now / 1000);
  const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const claims = { iss: issuer, exp: seconds + lifetimeSeconds, nbf: seconds - clockSlackSeconds };
  const content = `${encoded({ alg: algorithm, typ: 'JWT' })}.${encoded(claims)}`;
  const hash = algorithm.replace('HS', 'sha');
  return `${content}.${createHmac(hash, secret).update(content).digest('base64url')}`;
}
