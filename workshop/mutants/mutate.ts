import type { Mutant } from './mutant.ts';

/** The file's text with the mutation. Throws where the text to replace does not occur exactly once. */
export function mutate(text: string, { name, file, find, replace }: Mutant): string {
  const [before, after, ...more] = text.split(find);
  if (before === undefined || after === undefined || more.length > 0) {
    throw new Error(`${name}: its text occurs ${text.split(find).length - 1} times in ${file}, not once`);
  }
  return before + replace + after;
}
