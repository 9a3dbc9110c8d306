import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { assignTestFiles, onlyNodeParts } from './projects.ts';

async function withServers(files: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const directory = await mkdtemp(join(tmpdir(), 'projects-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  for (const [name, text] of Object.entries({ 'support/marker.ts': '', ...files })) {
    await mkdir(dirname(join(directory, name)), { recursive: true });
    await writeFile(join(directory, name), text);
  }
  const { pure, servers } = assignTestFiles(directory, 'support/marker.ts');
  const all = Object.keys(files).filter((name) => name.endsWith('.test.ts'));
  expect([...pure, ...servers].map((path) => path.slice(directory.length + 1)).toSorted()).toEqual(
    all.toSorted(),
  );
  return servers.map((path) => path.slice(directory.length + 1));
}

describe('a test file runs with servers', () => {
  it('if it imports the marker, directly or through others, even in a circle', async () => {
    expect(
      await withServers({
        'own.test.ts': "import { a } from './support/marker.ts';",
        'deep/far.test.ts': "import {\n  a,\n  b,\n} from '../first.ts';",
        'first.ts': "export * from './second.ts';",
        'second.ts': "import './first.ts';\nimport './support/marker.ts';",
        'dynamic.test.ts': "it('x', () => import('./second.ts'));",
      }),
    ).toEqual(['deep/far.test.ts', 'dynamic.test.ts', 'own.test.ts']);
  });

  it('but not for a type, for another module, or for a name in its text', async () => {
    expect(
      await withServers({
        'pure.test.ts': "import { expect } from 'vitest';\nimport { a } from './other.ts';",
        'types.test.ts': "import type { A } from './support/marker.ts';",
        'other.ts': "const text = 'support/marker.ts';",
      }),
    ).toEqual([]);
  });
});

describe('test:node', () => {
  const directory = fileURLToPath(new URL('..', import.meta.url));
  const all = assignTestFiles(directory, 'support/server-use.ts');

  it('runs a small part of all test files, of both projects', () => {
    const found = onlyNodeParts(directory, all);
    expect(found.pure.length).toBeGreaterThan(0);
    expect(found.servers.length).toBeGreaterThan(0);
    const share = (found.pure.length + found.servers.length) / (all.pure.length + all.servers.length);
    expect(share).toBeLessThan(0.15);
  });

  it('refuses a list with a file that does not exist', () => {
    const rest = all.servers.filter((file) => !file.endsWith('/http/hostile-callers.test.ts'));
    expect(() => onlyNodeParts(directory, { ...all, servers: rest })).toThrow(
      'no test has http/hostile-callers.test.ts',
    );
  });
});

it('this file, which is pure, may not use a server, and the error explains why', async () => {
  const { databaseUri } = (await import(fileURLToPath(new URL('run-servers.ts', import.meta.url)))) as {
    databaseUri: (name: string) => string;
  };
  expect(() => databaseUri('none')).toThrow(/project "pure", which starts no servers/);
});
