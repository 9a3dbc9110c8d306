import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createLargeJsonReader, LargeText } from '../../../src/providers/shared/large-json.ts';

const long = 'QUJD'.repeat(8_000);

function read(text: string, chunkBytes = 64 * 1024): unknown {
  const reader = createLargeJsonReader();
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += chunkBytes) reader.push(bytes.subarray(at, at + chunkBytes));
  return reader.finish();
}

function plain(value: unknown): unknown {
  if (value instanceof LargeText) return value.toString();
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, plain(item)]));
}

it('long strings stay as the received bytes, and short ones become strings', () => {
  const value = read(JSON.stringify({ data: [{ b64_json: long, url: 'short' }], created: 1 }));
  const [item] = (value as { data: { b64_json: LargeText; url: string }[] }).data;
  expect(item?.url).toBe('short');
  expect(item?.b64_json).toBeInstanceOf(LargeText);
  expect(item?.b64_json).toMatchObject({ bytes: long.length, verbatim: true });
  expect(item?.b64_json.toString()).toBe(long);
  expect(item?.b64_json.head(6)).toBe('QUJDQU');
  expect(item?.b64_json.from(4).toString()).toBe(long.slice(4));
});

it('nothing is copied: the pieces are views of the chunks', () => {
  const reader = createLargeJsonReader();
  const chunk = Buffer.from(`{"a":"${long}"}`);
  reader.push(chunk);
  const { a } = reader.finish() as { a: LargeText };
  expect(a.chunks[0]?.buffer).toBe(chunk.buffer);
});

it('escapes in a long string are decoded', () => {
  const text = `a/b"c\\d\u00e9\n${long}`;
  for (const chunkBytes of [1, 2, 3, 7, 100_000]) {
    const { a } = read(JSON.stringify({ a: text }).replaceAll('/', '\\/'), chunkBytes) as { a: LargeText };
    expect(a.verbatim).toBe(false);
    expect(a.toString()).toBe(text);
  }
});

it('equals the result of JSON.parse, wherever the chunks are cut', () => {
  const strings = fc.oneof(fc.string({ unit: 'binary' }), fc.constant(long), fc.constant(`\\"${long}\\`));
  const json = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      strings,
      fc.integer(),
      fc.constant(null),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(fc.string({ maxLength: 5 }), tie('value'), { maxKeys: 3 }),
    ),
  })).value;
  fc.assert(
    fc.property(json, fc.integer({ min: 1, max: 5_000 }), (value, chunkBytes) => {
      const text = JSON.stringify(value);
      expect(plain(read(text, chunkBytes))).toEqual(plain(JSON.parse(text)));
    }),
    { numRuns: 60 },
  );
});

describe('text that is not JSON is undefined', () => {
  it.each(['', '{', '{"a":"', `{"a":"${long}`, '<html>', `{"a":"${long}"`])('%#', (text) => {
    expect(read(text)).toBeUndefined();
  });
});
