import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSealer, SealError } from '../../src/access/sealer.ts';
import { sealPurposes } from '../../src/base/sealed.ts';

const hook = { purpose: 'webhook-secret', id: 'acct_1' } as const;
const request = { purpose: 'request', id: 'task_1' } as const;
const [older, newer] = [randomBytes(32), randomBytes(32)];

const places = sealPurposes.flatMap((purpose) => {
  const at = { purpose, id: 'one' };
  const others = sealPurposes.filter((other) => other !== purpose);
  return [
    { at, other: { purpose, id: 'other' } },
    { at, other: { purpose, id: 'one', part: '1' } },
    { at: { ...at, part: '2' }, other: { ...at, part: '1' } },
    ...others.map((other) => ({ at, other: { purpose: other, id: 'one' } })),
  ];
});

describe('a sealer', () => {
  const sealer = createSealer([newer]);

  it('opens what was sealed, with the same key for the same purpose only', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const sealed = sealer.seal(hook, text);
        expect(sealer.open(hook, sealed)).toBe(Buffer.from(text).toString());
        expect(() => sealer.open(request, sealed)).toThrow(SealError);
        expect(() => createSealer([older]).open(hook, sealed)).toThrow(SealError);
      }),
      { numRuns: 30 },
    );
  });

  it.each(places)('does not open a value of $at in $other', ({ at, other }) => {
    const sealed = sealer.seal(at, 'a secret');
    expect(sealer.open(at, sealed)).toBe('a secret');
    expect(() => sealer.open(other, sealed)).toThrow(SealError);
  });

  it('notices damage', () => {
    const { keyId, data } = sealer.seal(hook, 'whsec_x');
    const changed = Buffer.from(data);
    changed[13] = (changed[13] ?? 0) ^ 1;
    for (const damaged of [Buffer.alloc(0), data.subarray(1), data.subarray(0, -1), changed]) {
      expect(() => sealer.open(hook, { keyId, data: damaged })).toThrow(
        /it is damaged or belongs to another record$/,
      );
    }
  });

  it('never seals one text the same way twice', () => {
    expect(sealer.seal(request, 'x')).not.toEqual(sealer.seal(request, 'x'));
  });

  it('seals with its first key, and opens what any of them has sealed', () => {
    const sealed = createSealer([older]).seal(request, 'before');
    const both = createSealer([newer, older]);
    expect(both.open(request, sealed)).toBe('before');
    const later = both.seal(request, 'after');
    expect([both.keyId, later.keyId]).toEqual([sealer.keyId, sealer.keyId]);
    expect(sealer.open(request, later)).toBe('after');
  });

  it('names the missing key and the existing ones, without revealing any key', () => {
    const sealed = createSealer([older]).seal(request, 'x');
    expect(sealed.keyId).toMatch(/^[0-9a-f]{8}$/);
    expect(() => sealer.open(request, sealed)).toThrow(
      `a sealed value needs the key ${sealed.keyId}, and SECRETS_KEY contains ${sealer.keyId}`,
    );
    expect(older.toString('hex')).not.toContain(sealed.keyId);
  });

  it('accepts one or more keys of 32 bytes', () => {
    expect(() => createSealer([randomBytes(16)])).toThrow(RangeError);
    expect(() => createSealer([])).toThrow(RangeError);
  });
});
