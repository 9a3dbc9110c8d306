import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { mutants } from '../../workshop/mutants/index.ts';
import { mutate } from '../../workshop/mutants/mutate.ts';
import { portion } from '../../workshop/mutants/portion.ts';

const path = (file: string) => fileURLToPath(new URL(`../../${file}`, import.meta.url));

it.each(mutants)(
  '$name changes one place of a file that is there, and names tests that are there',
  (mutant) => {
    const text = readFileSync(path(mutant.file), 'utf8');
    expect(mutate(text, mutant)).not.toBe(text);
    expect(mutant.tests.filter((file) => !existsSync(path(file)))).toEqual([]);
  },
);

it('every mutant has a name of its own', () => {
  expect(new Set(mutants.map(({ name }) => name)).size).toBe(mutants.length);
});

it('a text that occurs twice, or not at all, is not a mutant', () => {
  const mutant = { name: 'm', breaks: '', file: 'f', find: 'a', replace: 'b', tests: [] };
  expect(mutate('xay', mutant)).toBe('xby');
  expect(() => mutate('aa', mutant)).toThrow('2 times');
  expect(() => mutate('x', mutant)).toThrow('0 times');
});

it('portions together are the list, each mutant in one of them', () => {
  const parts = ['1/5', '2/5', '3/5', '4/5', '5/5'].map((part) => portion(mutants, part));
  expect(parts.flat()).toEqual(mutants);
  expect(Math.max(...parts.map((part) => part.length))).toBeLessThanOrEqual(Math.ceil(mutants.length / 5));
  expect(portion(mutants, '1/1')).toEqual(mutants);
});

it.each(['', '0/3', '4/3', '1', '1/0', '-1/2', '1/2/3', 'x/y'])('%j is not a portion', (part) => {
  expect(() => portion(mutants, part)).toThrow('is not like 2/6');
});
