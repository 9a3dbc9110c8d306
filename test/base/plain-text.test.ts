import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { escaped, isPlain, isToken, plainText } from '../../src/base/plain-text.ts';

/**
 * These are, in this order: ESC, C1's CSI, a right-to-left override, a zero-width character, a byte order mark, a line
 * separator, half a surrogate pair, and a tag.
 */
const obeyed = [
  '\u001B',
  '\u009B',
  '\u202E',
  '\u200B',
  '\uFEFF',
  '\u2028',
  '\uD800',
  '\u{E0041}',
  '\n',
  '\u0000',
];

describe.each(obeyed)('%j', (character) => {
  const text = `a${character}b`;

  it('is not plain, becomes a space, and is not allowed in a token', () => {
    expect(isPlain(text)).toBe(false);
    expect(plainText(text, 10)).toBe('a b');
    expect(isToken(text, 10)).toBe(false);
  });

  it('is escaped as JSON would, so that it reads back', () => {
    const shown = escaped(text, { keepLines: false });
    expect(shown).toMatch(/^a(\\u[0-9a-f]{4})+b$/);
    expect(JSON.parse(`"${shown}"`)).toBe(text);
  });
});

it('any text is shown in one line of limited length', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary', maxLength: 300 }),
      fc.integer({ min: 1, max: 60 }),
      (text, max) => {
        const line = plainText(text, max);
        expect(isPlain(line)).toBe(true);
        expect(line.length).toBeLessThanOrEqual(max);
      },
    ),
  );
});

it('printable characters of all scripts, marks and emoji are kept', () => {
  const text = 'Ünï — 漢字 नमस्ते 🚤 “x”';
  expect(plainText(text, 100)).toBe(text);
  expect(escaped(text, { keepLines: false })).toBe(text);
});

it('line breaks are kept if they are allowed', () => {
  expect(escaped('a\nb\r\u001B', { keepLines: true })).toBe('a\nb\\u000d\\u001b');
});

it.each([
  ['cgt-20260514-x_1', true],
  ['models/a/op/a.b:~@,', true],
  ['QUJD+/=', true],
  ['', false],
  ['a b', false],
  ["a';rm", false],
  ['漢', false],
  ['x'.repeat(21), false],
])('%j is a token of at most 20 characters: %s', (text, expected) => {
  expect(isToken(text, 20)).toBe(expected);
});
