import { readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * `npm run changelog -- VERSION`: moves the files in changes/ and the section `[Unreleased]` of CHANGELOG.md to a new
 * section with the version and today's date. Each file is named NAME.KIND.md and contains sentences for users.
 */

const headings = {
  breaking: 'Breaking',
  added: 'Added',
  changed: 'Changed',
  removed: 'Removed',
  fixed: 'Fixed',
  security: 'Security',
} as const;

type Kind = keyof typeof headings;

interface Change {
  readonly file: string;
  readonly kind: Kind;
  readonly text: string;
}

const directory = new URL('../changes/', import.meta.url);
const unreleased = '## [Unreleased]';
const changelog = new URL('../CHANGELOG.md', import.meta.url);

export function readChanges(): readonly Change[] {
  const files = readdirSync(directory).filter((file) => file !== 'README.md');
  return files.toSorted().map((file) => {
    const kind = /^[a-z0-9-]+\.(?<kind>[a-z]+)\.md$/u.exec(file)?.groups?.['kind'] ?? '';
    const text = readFileSync(new URL(file, directory), 'utf8').trim();
    if (!isKind(kind))
      throw new Error(`changes/${file}: name it NAME.KIND.md; KIND is ${Object.keys(headings).join(', ')}`);
    if (text === '' || /^#|\n\n/u.test(text))
      throw new Error(`changes/${file}: write one paragraph without a heading`);
    return { file, kind, text };
  });
}

interface Release {
  readonly version: string;
  readonly date: string;
  readonly changes: readonly Change[];
}

export function withRelease(text: string, { version, date, changes }: Release): string {
  const [before, section, after] = split(text);
  const written = Object.entries(headings).flatMap(([kind, heading]) => {
    const items = changes.filter((change) => change.kind === kind).map(asItem);
    const former = section.get(heading) ?? [];
    return former.length + items.length === 0
      ? []
      : [`### ${heading}\n\n${[...former, ...items].join('\n')}\n`];
  });
  return `${before}${unreleased}\n\n## [${version}] - ${date}\n\n${written.join('\n')}${after}`;
}

function split(text: string): readonly [string, ReadonlyMap<string, readonly string[]>, string] {
  const start = text.indexOf(`${unreleased}\n`);
  if (start === -1) throw new Error(`CHANGELOG.md has no section ${unreleased}`);
  const end = text.indexOf('\n## ', start);
  const section = text
    .slice(start, end === -1 ? undefined : end)
    .split('\n### ')
    .slice(1);
  const items = section.map((part) => {
    const [heading = '', ...lines] = part.split('\n');
    return [heading, [lines.join('\n').trim()]] as const;
  });
  return [text.slice(0, start), new Map(items), end === -1 ? '' : text.slice(end)];
}

function asItem({ text }: Change): string {
  return `- ${text.replaceAll('\n', '\n  ')}`;
}

function isKind(text: string): text is Kind {
  return Object.hasOwn(headings, text);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const version = process.argv[2];
  if (version === undefined || !/^\d+\.\d+\.\d+$/u.test(version))
    throw new Error('usage: npm run changelog -- VERSION, such as 1.2.3');
  const changes = readChanges();
  if (changes.length === 0) throw new Error('changes/ has no files, so there is nothing to release');
  const date = new Date().toISOString().slice(0, 10);
  writeFileSync(changelog, withRelease(readFileSync(changelog, 'utf8'), { version, date, changes }));
  for (const { file } of changes) rmSync(new URL(file, directory));
}
