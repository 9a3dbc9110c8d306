import fc from 'fast-check';
import { expect, it } from 'vitest';
import { didYouMean, mistakesBetween, nearestOf } from '../../src/base/nearest.ts';

it.each([
  ['', '', 0],
  ['prompt', 'promt', 1],
  ['prompt', 'pormpt', 1],
  ['prompt', 'prompts', 1],
  ['kitten', 'sitting', 3],
])('%j and %j differ in %i letters', (one, other, mistakes) => {
  expect(mistakesBetween(one, other)).toBe(mistakes);
  expect(mistakesBetween(other, one)).toBe(mistakes);
});

const models = ['seedance-2.0', 'seedance-2.5', 'kling-3.0-omni', 'wan-2.6'];

it.each([
  ['seedance-2.4', 'seedance-2.0'],
  ['Seedance-2.5', 'seedance-2.5'],
  ['sedance-2.5', 'seedance-2.5'],
  ['kling-3-omni', 'kling-3.0-omni'],
  ['wan', undefined],
  ['sora-2', undefined],
  ['', undefined],
  ['x'.repeat(65), undefined],
])('the nearest to %j is %j', (name, nearest) => {
  expect(nearestOf(name, models)).toBe(nearest);
  expect(didYouMean(name, models)).toBe(nearest === undefined ? '' : ` Did you mean ${nearest}?`);
});

it('is the closest candidate, for every name', () => {
  fc.assert(
    fc.property(fc.string(), fc.array(fc.string({ maxLength: 12 })), (name, candidates) => {
      const nearest = nearestOf(name, candidates);
      if (nearest === undefined) return;
      const distances = candidates.map((one) => mistakesBetween(name.toLowerCase(), one.toLowerCase()));
      expect(mistakesBetween(name.toLowerCase(), nearest.toLowerCase())).toBe(Math.min(...distances));
    }),
  );
});
