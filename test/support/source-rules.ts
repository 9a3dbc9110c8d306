import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

/** Text by path from the repository's root, such as `src/compose/core.ts`. */
export type Sources = Readonly<Record<string, string>>;

/** Every TypeScript file below these folders. */
export function readSources(root: string, folders: readonly string[]): Sources {
  const paths = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => posix.join(folder, name)),
  );
  return Object.fromEntries(paths.map((path) => [path, readFileSync(join(root, path), 'utf8')]));
}

/** `path:line text` of every line that `pattern` finds, outside the files and folders that may. */
export function linesWith(sources: Sources, pattern: RegExp, allowed: readonly string[]): readonly string[] {
  return Object.entries(sources)
    .filter(([path]) => !allowed.some((prefix) => path.startsWith(prefix)))
    .flatMap(([path, text]) =>
      text
        .split('\n')
        .flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1} ${line.trim()}`] : [])),
    );
}

export interface Import {
  readonly from: string;
  readonly to: string;
  /** `import type`: nothing is loaded. */
  readonly isType: boolean;
}

/** The relative imports of all files, resolved; packages are left out. */
export function importsOf(sources: Sources): readonly Import[] {
  return Object.entries(sources).flatMap(([from, text]) =>
    [...text.matchAll(/^(?:import|export)\s+(type\s)?[^;']*?(?:from\s+)?'(\.[^']+)'/gm)].map(
      ([, type, path = '']) => ({
        from,
        to: posix.join(posix.dirname(from), path),
        isType: type !== undefined,
      }),
    ),
  );
}

/** `src/http/routes/x.ts` is in `http`, `src/compose/core.ts` in `core.ts`, `workflows/x.ts` in `workflows`. */
function folderOf(path: string): string {
  const [first = '', second = ''] = path.split('/');
  return first === 'src' ? second : first;
}

/** Circles of folders that import each other, types too: each as `a → b → a`, from its first name. */
export function folderCircles(imports: readonly Import[]): readonly string[] {
  const targets = new Map<string, Set<string>>();
  for (const { from, to } of imports) {
    const [a, b] = [folderOf(from), folderOf(to)];
    if (a !== b) targets.set(a, (targets.get(a) ?? new Set()).add(b));
  }
  const circles = new Set<string>();
  const walk = (path: readonly string[], start: string): void => {
    for (const next of targets.get(path.at(-1) ?? '') ?? []) {
      if (next === start) circles.add([...path, start].join(' → '));
      // Each circle is found from its smallest name only.
      else if (next > start && !path.includes(next)) walk([...path, next], start);
    }
  };
  for (const start of targets.keys()) walk([start], start);
  return [...circles].toSorted();
}

/** What a folder may import: at run time, and beyond that as a type. */
export interface Allowance {
  readonly runs: readonly string[];
  readonly types?: readonly string[];
}

/** Imports between folders that the table does not list; a folder without a row may import nothing. */
export function importsOutside(
  table: Readonly<Record<string, Allowance>>,
  imports: readonly Import[],
): readonly string[] {
  return imports
    .filter(({ from, to, isType }) => {
      const [a, b] = [folderOf(from), folderOf(to)];
      const { runs, types = [] } = table[a] ?? { runs: [] };
      return a !== b && !runs.includes(b) && !(isType && types.includes(b));
    })
    .map(({ from, to, isType }) => `${from} → ${to}${isType ? ' (type)' : ''}`);
}

/** Imports from one vendor's folder into another's. */
export function vendorCrossings(imports: readonly Import[], vendors: readonly string[]): readonly string[] {
  const vendorOf = (path: string) => vendors.find((name) => path.startsWith(`src/providers/${name}/`));
  return imports
    .filter(({ from, to }) => {
      const [a, b] = [vendorOf(from), vendorOf(to)];
      return a !== undefined && b !== undefined && a !== b;
    })
    .map(({ from, to }) => `${from} → ${to}`);
}

/** An upstream's path of three segments or more, or one of its error codes such as `InvalidParameter.Size`. */
const wireFact = /'((?:\/[\w-]+){3,}|[A-Z][a-z]+(?:\.?[A-Z][a-z]+)+)'/g;

/** Wire facts that stand in more than one file, with the files. */
export function repeatedWireFacts(sources: Sources): readonly string[] {
  const files = new Map<string, Set<string>>();
  for (const [path, text] of Object.entries(sources)) {
    for (const [, fact = ''] of text.matchAll(wireFact))
      files.set(fact, (files.get(fact) ?? new Set()).add(path));
  }
  return [...files].filter(([, at]) => at.size > 1).map(([fact, at]) => `${fact}: ${[...at].join(', ')}`);
}

/** The paths that the page's section `## Layout` names: what stands before two spaces in each line of its block. */
export function layoutPaths(page: string): readonly string[] {
  const block = /^## Layout\n+```\n([^]*?)\n```/m.exec(page)?.[1] ?? '';
  return block
    .split('\n')
    .flatMap((line) => (/^\S.*?(?= {2})/.exec(line)?.[0] ?? '').split(' '))
    .filter((path) => path !== '');
}

/**
 * What there is to name: the files and folders of src, and the other folders of the root. `files`: of the repository.
 */
export function treePaths(files: readonly string[]): readonly string[] {
  const paths = files.flatMap((file) => {
    const [top = '', second, ...rest] = file.split('/');
    if (second === undefined) return [];
    if (top !== 'src') return [`${top}/`];
    return [rest.length === 0 ? file : `src/${second}/`];
  });
  return [...new Set(paths)].toSorted();
}

/**
 * What docs/glossary.md replaces, where a pattern can say so without a misfire. "Takes" has good uses, and so only the
 * objects that a model or a parameter would "accept" are listed.
 */
export const translatedPhrases = new RegExp(
  [
    String.raw`\b(?:goes|go|going|went|gone) on\b(?! to\b)`,
    String.raw`\bon (?:its|their) way\b`,
    String.raw`\bby (?:itself|themselves)\b`,
    String.raw`\bmend(?:s|ed|ing)?\b`,
    String.raw`\b(?:made|makes|making) up\b(?! (?:of|for)\b)`,
    String.raw`\b(?:tells?|telling|told)\b`,
    String.raw`\b(?:tried|tries|trying) again\b`,
    String.raw`\b(?:given|gives?|gave|giving) (?:[\w']+ ){0,2}up\b`,
    String.raw`\bloaded again\b`,
    String.raw`\bsent again\b`,
    String.raw`\bshown only\b`,
    String.raw`(?<!\bthere )\bis no (?!longer\b|more\b|less\b)\w`,
    String.raw`\bis none of\b`,
    String.raw`\bgot lost\b`,
    String.raw`\bknows nothing of\b`,
    String.raw`\btakes? (?:no|any|only|text|images?|files?|URLs?|data|JSON)\b`,
    String.raw`\bTemporal's (?:interface|user interface|UI)\b`,
  ].join('|'),
  'i',
);
