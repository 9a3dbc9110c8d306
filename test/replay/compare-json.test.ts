import { expect, it } from 'vitest';
import { compareJson } from '../../workshop/replay/compare-json.ts';

it.each<[string, unknown, unknown]>([
  ['the same', { a: [1, { b: null }] }, { a: [1, { b: null }] }],
  ['in another order', { a: 1, b: 2 }, { b: 2, a: 1 }],
  ['absent and undefined', { a: undefined }, {}],
  ['what the record hides', { prompt: '[caller]' }, { prompt: 'a fox' }],
  ['a part that the record hides', { url: 'see [url] there' }, { url: 'see https://a.example there' }],
  ['what today’s answer hides', { id: 'a' }, { id: '[id]' }],
])('%s does not count', (_, recorded, today) => {
  expect(compareJson(recorded, today)).toEqual([]);
});

it.each<[string, unknown, unknown, string[]]>([
  ['a value', { a: { b: 1 } }, { a: { b: 2 } }, ['a.b was 1 and is 2']],
  ['a text and its number', { a: '1' }, { a: 1 }, ['a was "1" and is 1']],
  ['what is gone', { a: 1 }, {}, ['a was 1 and is absent']],
  ['what is new', {}, { a: false }, ['a was absent and is false']],
  ['an item', [1, 2], [1, 3, 4], ['1 was 2 and is 3', '2 was absent and is 4']],
  ['an object that became a value', { a: { b: 1 } }, { a: 1 }, ['a was {"b":1} and is 1']],
  ['the whole', 'a', 'b', ['the whole was "a" and is "b"']],
  ['each of several', { a: 1, b: 2 }, { a: 2, b: 3 }, ['a was 1 and is 2', 'b was 2 and is 3']],
])('%s is reported with its place', (_, recorded, today, differences) => {
  expect(compareJson(recorded, today)).toEqual(differences);
});

it('long values are cut', () => {
  const [line = ''] = compareJson({ a: 'x'.repeat(500) }, { a: 'y' });
  expect(line).toBe(`a was "${'x'.repeat(119)}… and is "y"`);
});
