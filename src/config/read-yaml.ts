import { Composer, Parser, parseDocument, type CST } from 'yaml';

const bytesMax = 256 * 1024;
/** The maximum depth of nesting. The parser recurses at each level, and a stack overflow cannot be handled safely. */
const levelsMax = 32;
/** The maximum number of entries in a list or mapping. The parser compares each key with all the others. */
const entriesMax = 2_000;
const errorsMax = 20;

export type ReadYaml = { readonly value: unknown } | { readonly violations: readonly string[] };

let last: { readonly text: string; readonly read: ReadYaml } | undefined;

/**
 * Takes limited time and memory for any text. Caches the last text, because startup and reload parse the same text
 * several times.
 */
export function readYaml(text: string): ReadYaml {
  if (last?.text !== text) last = { text, read: parse(text) };
  return last.read;
}

function parse(text: string): ReadYaml {
  if (Buffer.byteLength(text) > bytesMax)
    return { violations: [`the file is larger than ${bytesMax} bytes`] };
  const tokens: CST.Token[] = [];
  let errors = 0;
  for (const token of new Parser().parse(text)) {
    tokens.push(token);
    if (token.type === 'error') errors += 1;
    if (errors > errorsMax)
      return { violations: [`the file is not YAML: it has more than ${errorsMax} errors`] };
  }
  const excess = excessOf(tokens.filter(({ type }) => type !== 'error'));
  if (excess !== undefined) return { violations: [excess] };
  try {
    const documents = [...new Composer().compose(tokens, true, text.length)];
    const [document] = documents;
    // Parse again with `parseDocument`, because no other function of the library reports the positions of errors.
    if (document === undefined || documents.length > 1 || document.errors.length > 0)
      return { violations: parseDocument(text).errors.map((error) => error.message) };
    const value: unknown = document.toJS();
    // Throws a TypeError for a cyclic value, which results from an alias inside its own anchor.
    JSON.stringify(value);
    return { value };
  } catch (error) {
    if (!(error instanceof ReferenceError) && !(error instanceof TypeError)) throw error;
    return {
      violations: ['an alias (`*name`) is too large when expanded, refers to itself, or does not exist'],
    };
  }
}

function excessOf(tokens: CST.Token[]): string | undefined {
  let level = tokens;
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
