import { readdirSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';

/** A change that breaks a promise of the code. Paths are relative to the repository root. */
export interface Mutant {
  readonly file: string;
  readonly tests: readonly string[];
  readonly breaks: string;
  readonly find: string;
  readonly replace: string;
}

const folder = new URL('./', import.meta.url);
const change = z.strictObject({ breaks: z.string(), find: z.string(), replace: z.string() });
const groups = z.array(
  z.strictObject({ file: z.string(), tests: z.array(z.string()).min(1), mutants: z.array(change).min(1) }),
);

export function readMutants(): readonly Mutant[] {
  const files = readdirSync(folder).filter((name) => name.endsWith('.yaml'));
  return files
    .flatMap((name) => groups.parse(parse(readFileSync(new URL(name, folder), 'utf8'))))
    .flatMap(({ file, tests, mutants }) => mutants.map((mutant) => ({ file, tests, ...mutant })));
}

export function mutate(text: string, { breaks, file, find, replace }: Mutant): string {
  const [before, after, ...more] = text.split(find);
  if (before === undefined || after === undefined || more.length > 0)
    throw new Error(`${breaks}: its text occurs ${text.split(find).length - 1} times in ${file}, not once`);
  return before + replace + after;
}
