import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { cellsOf, headingOf, readOriginal } from './original.ts';

/**
 * Every statement in docs/contract.md must name an existing test, and every contract test must be named by a statement.
 */

interface Row {
  readonly heading: string;
  readonly quote: string;
  readonly isHeading: boolean;
  readonly tests: readonly NamedTest[];
}

interface NamedTest {
  readonly file: string;
  readonly title: string;
}

const root = new URL('../', import.meta.url);
const original = readOriginal();
const rows = readMap();
const contractFiles = readdirSync(new URL('contract/', root)).filter((name) => name.endsWith('.test.ts'));

it('every statement of the original has its row, in its order, and no row is left over', () => {
  const statements = original.flatMap(({ heading, statements: list }) =>
    list.map((statement) => [heading, statement] as const),
  );
  expect(statements.length).toBeGreaterThan(100);
  const wrong = Array.from({ length: Math.max(statements.length, rows.length) }, (_, index) => {
    const [heading, statement = ''] = statements[index] ?? [];
    const row = rows[index];
    return row?.heading === heading && isQuoteOf(row?.quote ?? '', statement)
      ? []
      : [[statement, row?.quote]];
  }).flat();
  expect(wrong).toEqual([]);
});

it('every row names a test, unless it only announces the next ones', () => {
  for (const { quote, isHeading, tests } of rows) {
    expect([quote, isHeading || tests.length > 0]).toEqual([quote, true]);
    if (isHeading) expect(quote).toMatch(/:$/);
  }
});

it('what the original does not show is decided, and nothing else', () => {
  const page = readMapText();
  for (const { quote } of rows) {
    const line = page.split('\n').find((text) => text.startsWith(`| \`${quote}\` |`)) ?? '';
    expect([quote, line.includes('| decided: ')]).toEqual([quote, quote.endsWith('not shown.')]);
  }
});

it('every test that a row names exists', () => {
  const missing = rows.flatMap(({ tests }) => tests).filter((named) => findTitle(named) === undefined);
  expect(missing).toEqual([]);
});

describe('every test of test/contract is named by a row', () => {
  it.each(contractFiles.filter((name) => name !== 'map.test.ts'))('%s', (name) => {
    const file = `contract/${name.replace('.test.ts', '')}`;
    const named = rows.flatMap(({ tests }) => tests.filter((one) => one.file === file));
    const used = new Set(named.map(findTitle));
    expect(titlesOf(file).filter((title) => !used.has(title))).toEqual([]);
  });
});

function readMapText(): string {
  return readFileSync(new URL('../docs/contract.md', root), 'utf8');
}

function readMap(): Row[] {
  const found: Row[] = [];
  let heading = '';
  for (const line of readMapText().split('\n')) {
    heading = headingOf(line) ?? heading;
    if (!line.startsWith('| `')) continue;
    const [quote = '', tests = ''] = cellsOf(line);
    found.push({
      heading,
      quote: quote.replaceAll('`', ''),
      isHeading: tests === 'heading',
      tests: tests.split('<br>').flatMap((text) => {
        const [file, title] = text.split(' › ');
        return file === undefined || title === undefined ? [] : [{ file, title }];
      }),
    });
  }
  return found;
}

function isQuoteOf(quote: string, statement: string): boolean {
  return quote.endsWith(' …') ? statement.startsWith(quote.slice(0, -2)) : quote === statement;
}

function titlesOf(file: string): string[] {
  const text = sourceOf(file);
  const starts = /\bit\(\s*(['"`])(.+?)(?<!\\)\1|\)\(\s*(['"`])(.+?)(?<!\\)\3/g;
  return [...text.matchAll(starts)].map(([, , plain, , each]) => (plain ?? each ?? '').replaceAll('\\', ''));
}

function sourceOf(file: string): string {
  const path = new URL(`${file}.test.ts`, root);
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}

const placeholders = /%[sijdo]/g;

function findTitle({ file, title }: NamedTest): string | undefined {
  const titles = titlesOf(file);
  if (titles.includes(title)) return title;
  return titles.find((template) => {
    if (template.replaceAll(placeholders, '').trim() === '') return false;
    const pattern = template
      .split(placeholders)
      .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      .join('(.+)');
    const values = new RegExp(`^${pattern}$`).exec(title)?.slice(1) ?? [];
    return values.length > 0 && values.every((value) => isWrittenIn(file, value));
  });
}

/** A path that contains an id is built at run time, so only its beginning can be compared. */
function isWrittenIn(file: string, value: string): boolean {
  return sourceOf(file).includes(value.replace(/\/task_0+$/, ''));
}
