import fc from 'fast-check';
import { expect, it } from 'vitest';
import { findJsonFault } from '../../../src/http/bodies/json-fault.ts';

it.each<[string, { line: number; column: number; isCutOff: boolean }]>([
  ['{"model": "a",}', { line: 1, column: 15, isCutOff: false }],
  ['{\n  "model": "a"\n  "prompt": "b"\n}', { line: 3, column: 3, isCutOff: false }],
  ["{'model': 1}", { line: 1, column: 2, isCutOff: false }],
  ['{"a": tru}', { line: 1, column: 10, isCutOff: false }],
  ['{"a": "one\ntwo"}', { line: 1, column: 11, isCutOff: false }],
  ['{"a": "\\x"}', { line: 1, column: 8, isCutOff: false }],
  ['{"a": 01}', { line: 1, column: 8, isCutOff: false }],
  ['{"a": -}', { line: 1, column: 8, isCutOff: false }],
  ['{"a": [1, 2}', { line: 1, column: 12, isCutOff: false }],
  ['{} {}', { line: 1, column: 4, isCutOff: false }],
  ['', { line: 1, column: 1, isCutOff: true }],
  ['{"a": {"b": [', { line: 1, column: 14, isCutOff: true }],
  ['{"a": "b', { line: 1, column: 9, isCutOff: true }],
])('%j stops being JSON at %o', (text, fault) => {
  expect(findJsonFault(text)).toEqual(fault);
});

const almostJson = fc
  .tuple(
    fc.json(),
    fc.nat(),
    fc.constantFrom('', ',', '"', '}', '[', '\\', ':', '\n', '-', 'e', 'n', '0', '\u0001'),
  )
  .map(([text, index, piece]) => {
    const at = index % (text.length + 1);
    return text.slice(0, at) + piece + text.slice(at + 1);
  });

it('finds a fault in exactly the texts that JSON.parse rejects, and none before it', () => {
  fc.assert(
    fc.property(almostJson, (text) => {
      const fault = findJsonFault(text);
      expect(fault === undefined).toBe(isJson(text));
      if (fault === undefined || text.includes('\n')) return;
      expect(findJsonFault(text.slice(0, fault.column - 1))?.isCutOff ?? true).toBe(true);
    }),
    { numRuns: 3000 },
  );
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

it('reads a megabyte of hostile text only once', () => {
  const text = `{"a":"${'\\"'.repeat(500_000)}`;
  expect(findJsonFault(text)).toMatchObject({ column: text.length + 1 });
});
