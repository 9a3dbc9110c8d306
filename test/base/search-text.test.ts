import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { newTaskId } from '../../src/base/ids.ts';
import {
  beginning,
  idPartMin,
  inTexts,
  partsOfId,
  partsWithin,
  textsOf,
} from '../../src/base/search-text.ts';

it('any eight characters of an id have a part in common with it', () => {
  const id = fc.constant(undefined).map(() => newTaskId(randomBytes));
  fc.assert(
    fc.property(id, fc.nat({ max: 19 }), fc.integer({ min: idPartMin, max: 24 }), (task, at, length) => {
      const text = task.slice(5 + at, 5 + at + length);
      if (text.length < idPartMin) return;
      const parts = partsOfId(task);
      expect(parts).toHaveLength(5);
      expect((partsWithin(text) ?? []).some((part) => parts.includes(part))).toBe(true);
    }),
  );
});

it('a text that is too short, or has other characters, has no parts', () => {
  expect(['task_', 'task_1234567', '1234567', 'a b c d e f'].map(partsWithin)).toEqual(
    Array.from({ length: 4 }),
  );
});

it('a name is found from the start of each word, and an id from each position that leaves eight characters', () => {
  expect(textsOf('acct_12345', 'Über Film-Co')).toEqual([
    'über film-co', 'film-co', 'co', 'acct_12345', 'cct_12345', 'ct_12345',
  ]); // prettier-ignore
  expect(textsOf('a', '')).toEqual(['a']);
});

it('a text is matched literally', () => {
  const text = 'a.b*c(d)[e]{f}^$|\\+?';
  expect(new RegExp(beginning(text).$regex).test(`${text} more`)).toBe(true);
  expect(new RegExp(beginning('a.b').$regex).test('axb')).toBe(false);
});

it('a text longer than the stored one is cut only if the stored one was cut', () => {
  const [common, long] = ['A'.repeat(60), 'A'.repeat(61)];
  const [stored = ''] = textsOf('account', long);
  expect(new RegExp(inTexts(long).$regex).test(stored)).toBe(true);
  expect(new RegExp(beginning(long).$regex).test(`${common}B`)).toBe(false);
});
