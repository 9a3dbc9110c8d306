import { mkdir, mkdtemp, readdir, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { openImageWorkspaces } from '../../src/images/workspace.ts';
import { makeTemporaryDirectory } from '../../src/process/temporary-directories.ts';
import { readSources } from '../support/source-rules.ts';

const dayMs = 86_400_000;

async function scratch(): Promise<string> {
  const parent = await mkdtemp(join(tmpdir(), 'temporary-'));
  onTestFinished(() => rm(parent, { recursive: true, force: true }));
  return parent;
}

it.each(['images', 'upload', 'bill'] as const)(
  'a start removes what killed processes left, and nothing else: %s',
  async (purpose) => {
    const parent = await scratch();
    const own = await makeTemporaryDirectory(purpose, parent);
    for (const [name, ageMs] of [
      ['old', dayMs + 60_000],
      ['new', 60_000],
    ] as const) {
      const path = join(parent, `mediary-${purpose}-${name}`);
      await mkdir(path);
      await utimes(path, new Date(), new Date(Date.now() - ageMs));
    }
    await mkdir(join(parent, 'mediary-other-old'));
    await utimes(join(parent, 'mediary-other-old'), 0, 0);
    const workspaces = await openImageWorkspaces(Date.now, parent);
    const left = [
      basename(own),
      basename(workspaces.directory),
      `mediary-${purpose}-new`,
      'mediary-other-old',
    ];
    expect((await readdir(parent)).toSorted()).toEqual(left.toSorted());
    await workspaces.close();
  },
);

it('no other module creates temporary directories', () => {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const makers = Object.entries(readSources(root, ['src', 'activities', 'workflows']))
    .filter(([, text]) => /\bmkdtemp(?:Sync)?\(/.test(text))
    .map(([path]) => path);
  expect(makers.toSorted()).toEqual([
    'src/local/servers/program-files.ts',
    'src/process/temporary-directories.ts',
  ]);
});
