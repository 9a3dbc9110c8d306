import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { mutants } from '../../scripts/mutants/index.ts';
import { mutate } from '../../scripts/mutants/mutate.ts';

const path = (file: string) => fileURLToPath(new URL(`../../${file}`, import.meta.url));

it('every mutant changes one place of a file that is there, and names tests that are there', () => {
  const texts = new Map<string, string>();
  for (const mutant of mutants) {
    const text = texts.get(mutant.file) ?? readFileSync(path(mutant.file), 'utf8');
    texts.set(mutant.file, text);
    expect([mutant.name, mutate(text, mutant)]).not.toEqual([mutant.name, text]);
    expect(mutant.tests.filter((file) => !existsSync(path(file)))).toEqual([]);
  }
  expect(new Set(mutants.map(({ name }) => name)).size).toBe(mutants.length);
});

it('a text that occurs twice, or not at all, is not a mutant', () => {
  const mutant = { name: 'm', breaks: '', file: 'f', find: 'a', replace: 'b', tests: [] };
  expect(mutate('xay', mutant)).toBe('xby');
  expect(() => mutate('aa', mutant)).toThrow('2 times');
  expect(() => mutate('x', mutant)).toThrow('0 times');
});
