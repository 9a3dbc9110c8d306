import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

export type Sources = Readonly<Record<string, string>>;

export function readSources(root: string, folders: readonly string[]): Sources {
  const paths = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => posix.join(folder, name)),
  );
  return Object.fromEntries(paths.map((path) => [path, readFileSync(join(root, path), 'utf8')]));
}

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
  readonly isType: boolean;
}

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

/**
 * `src/http/routes/x.ts` belongs to `http`, `src/compose/core.ts` to `core.ts`, and `workflows/x.ts` to `workflows`.
 */
function folderOf(path: string): string {
  const [first = '', second = ''] = path.split('/');
  return first === 'src' ? second : first;
}

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
      // Report each cycle only once, starting at its alphabetically first folder.
      else if (next > start && !path.includes(next)) walk([...path, next], start);
    }
  };
  for (const start of targets.keys()) walk([start], start);
  return [...circles].toSorted();
}

export interface Allowance {
  readonly runs: readonly string[];
  readonly types?: readonly string[];
}

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

export function vendorCrossings(imports: readonly Import[], vendors: readonly string[]): readonly string[] {
  const vendorOf = (path: string) => vendors.find((name) => path.startsWith(`src/providers/${name}/`));
  return imports
    .filter(({ from, to }) => {
      const [a, b] = [vendorOf(from), vendorOf(to)];
      return a !== undefined && b !== undefined && a !== b;
    })
    .map(({ from, to }) => `${from} → ${to}`);
}

const wireFact = /'((?:\/[\w-]+){3,}|[A-Z][a-z]+(?:\.?[A-Z][a-z]+)+)'/g;

export function repeatedWireFacts(sources: Sources): readonly string[] {
  const files = new Map<string, Set<string>>();
  for (const [path, text] of Object.entries(sources)) {
    for (const [, fact = ''] of text.matchAll(wireFact))
      files.set(fact, (files.get(fact) ?? new Set()).add(path));
  }
  return [...files].filter(([, at]) => at.size > 1).map(([fact, at]) => `${fact}: ${[...at].join(', ')}`);
}

/**
 * Returns the paths in a page's `## Layout` section. On each line of the section's code block, the path is the text
 * before two spaces.
 */
export function layoutPaths(page: string): readonly string[] {
  const block = /^## Layout\n+```\n([^]*?)\n```/m.exec(page)?.[1] ?? '';
  return block
    .split('\n')
    .flatMap((line) => (/^\S.*?(?= {2})/.exec(line)?.[0] ?? '').split(' '))
    .filter((path) => path !== '');
}

/** Returns the paths that the page must mention: the files and folders of src, and the other top-level folders. */
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
 * Phrases that must not be used. docs/glossary.md lists what to write instead. "Takes" also has legitimate uses, so the
 * pattern matches it only before objects that a model or a parameter would "accept".
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
