import { readFileSync } from 'node:fs';

/** The original interface document, cut into what can be true or false. */
export interface Section {
  /** Without the `#` signs. */
  readonly heading: string;
  readonly statements: readonly string[];
}

const path = new URL('../fixtures/interface-original.txt', import.meta.url);

/**
 * The rule: a heading starts a section; a row of a table (but not its head) is one statement, its cells joined by
 * ` · `; anything else is cut after each full stop that is followed by a blank. List markers and blank lines count for nothing.
 */
export function readOriginal(): Section[] {
  const sections: { heading: string; statements: string[] }[] = [];
  const lines = readFileSync(path, 'utf8').split('\n');
  for (const [index, line] of lines.entries()) {
    const heading = headingOf(line);
    if (heading !== undefined) sections.push({ heading, statements: [] });
    else sections.at(-1)?.statements.push(...statementsOf(line, lines[index + 1] ?? ''));
  }
  return sections;
}

/** The text of a Markdown heading; undefined: the line is none. */
export function headingOf(line: string): string | undefined {
  return /^#+ (.*)$/.exec(line)?.[1];
}

export function cellsOf(row: string): string[] {
  return row
    .slice(1, -1)
    .split('|')
    .map((cell) => cell.trim());
}

function statementsOf(line: string, next: string): string[] {
  if (line.trim() === '' || line.startsWith('|--')) return [];
  if (line.startsWith('|')) return next.startsWith('|--') ? [] : [cellsOf(line).join(' · ')];
  return line.replace(/^(?:-|\d+\.) /, '').split(/(?<=\.) /);
}
