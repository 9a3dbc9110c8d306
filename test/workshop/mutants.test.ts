import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { mutate, readMutants } from '../../workshop/mutants/corpus.ts';

const path = (file: string) => fileURLToPath(new URL(`../../${file}`, import.meta.url));
const mutants = readMutants();

it.each(mutants)('$breaks: changes one place of an existing file, and names existing tests', (mutant) => {
  const text = readFileSync(path(mutant.file), 'utf8');
  expect(mutate(text, mutant)).not.toBe(text);
  expect(mutant.tests.filter((file) => !existsSync(path(file)))).toEqual([]);
});

it('every mutant breaks its own promise', () => {
  expect(new Set(mutants.map(({ breaks }) => breaks)).size).toBe(mutants.length);
});

it('a text that occurs twice, or not at all, is not a mutant', () => {
  const mutant = { breaks: '', file: 'f', find: 'a', replace: 'b', tests: [] };
  expect(mutate('xay', mutant)).toBe('xby');
  expect(() => mutate('aa', mutant)).toThrow('2 times');
  expect(() => mutate('x', mutant)).toThrow('0 times');
});
