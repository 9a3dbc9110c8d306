import { createPublicKey, verify } from 'node:crypto';
import fc from 'fast-check';
import { compactVerify, createLocalJWKSet } from 'jose';
import { describe, expect, it } from 'vitest';
import { createReceiptKeys } from '../../src/access/receipt-keys.ts';
import { canonicalJson } from '../../src/base/canonical-json.ts';

const keys = createReceiptKeys(Buffer.alloc(32, 'root'));
const payload = { task: 'task_1', charge: '0.762300', request: null, steps: [1.5, 'é', { b: 1, a: 2 }] };

describe('a receipt’s signature', () => {
  it('is verified by jose, and its content is the canonical text', async () => {
    const jws = keys.sign(payload, 2);
    const known = createLocalJWKSet({ keys: [...keys.published(2)] });
    const verified = await compactVerify(jws, known);
    expect(Buffer.from(verified.payload).toString()).toBe(canonicalJson(payload));
    expect(verified.protectedHeader).toEqual({ alg: 'EdDSA', kid: keys.published(2)[0]?.kid });
    const [header = '', content = '', signature = ''] = jws.split('.');
    const other = Buffer.from(canonicalJson({ ...payload, charge: '0.1' })).toString('base64url');
    await expect(compactVerify([header, other, signature].join('.'), known)).rejects.toThrow('signature');
    const foreign = createReceiptKeys(Buffer.alloc(32, 'another')).published(2);
    await expect(compactVerify(jws, createLocalJWKSet({ keys: [...foreign] }))).rejects.toThrow();
    expect(content).toBe(Buffer.from(canonicalJson(payload)).toString('base64url'));
  });

  it('is verified by Node’s own crypto', () => {
    const [header = '', content = '', signature = ''] = keys.sign(payload, 1).split('.');
    const [{ x, kty, crv } = { x: '', kty: '', crv: '' }] = keys.published(1);
    const key = createPublicKey({ key: { x, kty, crv }, format: 'jwk' });
    const isValid = (text: string) =>
      verify(null, Buffer.from(text), key, Buffer.from(signature, 'base64url'));
    expect([isValid(`${header}.${content}`), isValid(`${content}.${header}`)]).toEqual([true, false]);
  });

  it('uses the same key in every process and a new one after a rotation, while the old key stays published', async () => {
    const again = createReceiptKeys(Buffer.alloc(32, 'root'));
    expect(again.published(3)).toEqual(keys.published(3));
    const ids = keys.published(3).map(({ kid }) => kid);
    expect(new Set(ids).size).toBe(3);
    expect(keys.published(1).map(({ kid }) => kid)).toEqual([ids[2]]);
    const rotated = createLocalJWKSet({ keys: [...again.published(3)] });
    for (const n of [1, 2, 3]) await compactVerify(keys.sign(payload, n), rotated);
    const before = createLocalJWKSet({ keys: [...keys.published(2)] });
    await expect(compactVerify(keys.sign(payload, 3), before)).rejects.toThrow('no applicable key');
  });
});

describe('canonical JSON', () => {
  it('is that of RFC 8785', () => {
    const sorted = {
      '\u20ac': 'Euro Sign',
      '\r': 'Carriage Return',
      '\ufb33': 'Hebrew Letter Dalet With Dagesh',
      '1': 'One',
      '\ud83d\ude00': 'Emoji: Grinning Face',
      '\u0080': 'Control',
      '\u00f6': 'Latin Small Letter O With Diaeresis',
    };
    const names = [...canonicalJson(sorted).matchAll(/"([^"]*)":/g)].map(([, name]) => name);
    expect(names).toEqual(['\\r', '1', '\u0080', 'ö', '€', '😀', '\ufb33']);
    expect(canonicalJson([333333333.3333333, 1e30, 4.5, 2e-3, 1e-27])).toBe(
      '[333333333.3333333,1e+30,4.5,0.002,1e-27]',
    );
    expect(canonicalJson({ b: undefined, a: [null, true, '\ud800'] })).toBe('{"a":[null,true,"\ufffd"]}');
  });

  it('has exactly one text for each value, and parses back to it', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = canonicalJson(value);
        expect(canonicalJson(JSON.parse(text))).toBe(text);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });
});
