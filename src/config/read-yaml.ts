import { Parser, parseDocument } from 'yaml';
import type { CST } from 'yaml';

/** A file of this size has some thousand models. */
const bytesMax = 256 * 1024;
/** The parser calls itself for each level, and the stack is one that V8 cannot recover from. */
const levelsMax = 32;
/** Of one list or mapping, whose keys are compared each with each. */
const entriesMax = 2_000;
const errorsMax = 20;

export type ReadYaml = { readonly value: unknown } | { readonly violations: readonly string[] };

/** The value of a YAML text, or what is wrong with it. Bounded in time and memory, whatever the text is. */
export function readYaml(text: string): ReadYaml {
  const excess = excessOf(text);
  if (excess !== undefined) return { violations: [excess] };
  try {
    const document = parseDocument(text);
    const violations = document.errors.map((error) => error.message);
    if (violations.length > 0) return { violations };
    const value: unknown = document.toJS();
    // An alias inside of what it stands for makes a value without an end: a TypeError.
    JSON.stringify(value);
    return { value };
  } catch (error) {
    if (!(error instanceof ReferenceError) && !(error instanceof TypeError)) throw error;
    return { violations: ['an alias (`*name`) stands for too much, for itself, or for nothing'] };
  }
}

function excessOf(text: string): string | undefined {
  if (Buffer.byteLength(text) > bytesMax) return `the file is larger than ${bytesMax} bytes`;
  let level: CST.Token[] = [];
  let errors = 0;
  for (const token of new Parser().parse(text)) {
    if (token.type === 'error') errors += 1;
    else level.push(token);
    if (errors > errorsMax) return `the file is not YAML: it has more than ${errorsMax} errors`;
  }
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > levelsMax) return `the file has more than ${levelsMax} levels`;
    if (level.some((token) => 'items' in token && token.items.length > entriesMax)) {
      return `a list or mapping has more than ${entriesMax} entries`;
    }
    level = level.flatMap(childrenOf);
  }
  return undefined;
}

function childrenOf(token: CST.Token): CST.Token[] {
  if (token.type === 'document') return token.value === undefined ? [] : [token.value];
  if (!('items' in token)) return [];
  return token.items.flatMap(({ key, value }) => [key, value].flatMap((child) => child ?? []));
}
