import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSecrets, SealError } from '../../src/access/secrets.ts';

describe('secrets', () => {
  const secrets = createSecrets(randomBytes(32));

  it('what is sealed is opened, by the same key for the same purpose only', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const sealed = secrets.seal('webhook-secret', text);
        expect(secrets.open('webhook-secret', sealed)).toBe(Buffer.from(text).toString());
        expect(() => secrets.open('payload-codec', sealed)).toThrow(SealError);
        expect(() => createSecrets(randomBytes(32)).open('webhook-secret', sealed)).toThrow(SealError);
      }),
      { numRuns: 30 },
    );
  });

  it('damage is noticed', () => {
    const sealed = secrets.seal('webhook-secret', 'whsec_x');
    for (const damaged of [
      '',
      'v1.',
      'v2.x',
      sealed.slice(0, -2),
      `${sealed.slice(0, 8)}A${sealed.slice(9)}B`,
      sealed.slice(3),
    ]) {
      expect(() => secrets.open('webhook-secret', damaged)).toThrow(SealError);
    }
  });

  it('the same text never looks the same, keys of two purposes differ, and the master has 32 bytes', () => {
    expect(secrets.seal('webhook-secret', 'x')).not.toBe(secrets.seal('webhook-secret', 'x'));
    expect(secrets.deriveKey('api-key-hmac')).not.toEqual(secrets.deriveKey('payload-codec'));
    expect(secrets.deriveKey('api-key-hmac')).toEqual(secrets.deriveKey('api-key-hmac'));
    expect(() => createSecrets(randomBytes(16))).toThrow(RangeError);
  });
});
