import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const timer = /setInterval\(|createRounds\(|following\(|createSnapshot</;
/** `process/` and the snapshot set timers for other parts. Local mode, command line and pages are not servers. */
const notParts = /^src\/(?:process\/|store\/snapshot\.ts|local\/|cli\/|pages\/)/;

it('the table in docs/operating.md lists all timers', () => {
  const files = ['src', 'activities', 'workflows'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => `${folder}/${name}`),
  );
  const timed = files.filter(
    (file) => !notParts.test(file) && timer.test(readFileSync(join(root, file), 'utf8')),
  );
  const [, section = ''] = readFileSync(join(root, 'docs/operating.md'), 'utf8').split(
    '## What runs on a timer\n',
  );
  const [table = ''] = section.split('\n## ');
  const listed = [...table.matchAll(/\]\(\.\.\/([^)]+)\)/g)].map(([, file]) => file);
  expect(new Set(listed)).toEqual(new Set(timed));
});
