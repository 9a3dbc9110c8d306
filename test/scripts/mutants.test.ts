import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { mutants } from '../../scripts/mutants/index.ts';
import { mutate } from '../../scripts/mutants/mutate.ts';

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
