import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { periods } from '../../src/base/periods.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const timer = /setInterval\(|createRounds\(|following\(|createSnapshot</;
/** `process/` and the snapshot set timers for other parts. Local mode, command line and pages are not servers. */
const notParts = /^src\/(?:process\/|store\/snapshot\.ts|local\/|cli\/|pages\/)/;

const [, section = ''] = readFileSync(join(root, 'docs/operating.md'), 'utf8').split(
  '## What runs on a timer\n',
);
const [table = ''] = section.split('\n## ');
const rows = [...table.matchAll(/^\| [^|]*\]\(\.\.\/([^)]+)\) \| [^|]+ \| ([^|]+) \|/gm)].map(
  ([, file = '', every = '']) => ({ file, every }),
);

it('the table in docs/operating.md lists all timers', () => {
  const files = ['src', 'activities', 'workflows'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => `${folder}/${name}`),
  );
  const timed = files.filter(
    (file) => !notParts.test(file) && timer.test(readFileSync(join(root, file), 'utf8')),
  );
  expect(new Set(rows.map(({ file }) => file))).toEqual(new Set(timed));
});

const named: Readonly<Record<string, { readonly everyMs: number; readonly idleMs?: number }>> = periods;

it.each(Object.entries(named))('and the period of %s', (name, { everyMs, idleMs }) => {
  const asking = rows.filter(({ file }) =>
    new RegExp(`\\bperiods\\.${name}\\b`).test(readFileSync(join(root, file), 'utf8')),
  );
  const every = `${everyMs / 1000} s`;
  const idle = idleMs === undefined ? '' : `; idle ${idleMs / 1000} s`;
  expect(asking.map((row) => row.every.split(', ')[0])).toEqual([`${every}${idle}`]);
});

it('and every interval of a server that asks MongoDB is one of these periods', () => {
  const asks = [
    'src/access/',
    'src/capacity/',
    'src/control/',
    'src/ledger/',
    'src/notices/',
    'src/routing/',
  ];
  const others = rows.filter(
    ({ file }) =>
      asks.some((folder) => file.startsWith(folder)) &&
      !readFileSync(join(root, file), 'utf8').includes('periods.'),
  );
  expect(others).toEqual([]);
});
