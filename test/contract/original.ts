import { readFileSync } from 'node:fs';

export interface Section {
  readonly heading: string;
  readonly statements: readonly string[];
}

const path = new URL('../fixtures/interface-original.txt', import.meta.url);

/**
 * Splits the document into sections by heading. Each table row except the header is one statement, with cells joined by
 * ` · `. Other text is split after each full stop followed by a space. List markers and blank lines are ignored.
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
