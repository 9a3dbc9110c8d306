import { existsSync, readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readCompose, readRepositoryFile, repositoryPath } from './compose-file.ts';

const dockerfile = readRepositoryFile('Dockerfile').replaceAll('\\\n', ' ');
const instructions = dockerfile.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
const ignored = readRepositoryFile('.dockerignore')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'));

const sources = instructions
  .filter((line) => line.startsWith('COPY ') && !line.includes('--from='))
  .flatMap((line) => line.split(/\s+/).slice(1, -1));

function instruction(name: string): string[] {
  return instructions
    .filter((line) => line.startsWith(`${name} `))
    .map((line) => line.slice(name.length + 1));
}

/** Only versions of Node that cannot strip types load this. */
const onlyOldNodesLoad = '@swc/wasm-typescript';

function importsIn(folder: string): string[] {
  const hidden = ignored.filter((line) => !line.startsWith('!') && line !== '*');
  return (
    readdirSync(repositoryPath(folder), { recursive: true, encoding: 'utf8' })
      .map((file) => `${folder}/${file}`)
      .filter((file) => /\.(?:ts|js)$/.test(file))
      .filter((file) => !hidden.some((path) => file === path || file.startsWith(`${path}/`)))
      .flatMap((file) => [
        ...readRepositoryFile(file).matchAll(/^(?:import |.*\bfrom |.*\bimport\()'([^'.\n][^'\n]*)'/gm),
      ])
      .map(([, name = '']) => name)
      // Ignore names in generated code that are not package names.
      .filter((name) => /^[@\w]/.test(name) && !name.startsWith('node:'))
      .map((name) => name.split('/', name.startsWith('@') ? 2 : 1).join('/'))
      .filter((name) => name !== onlyOldNodesLoad)
  );
}

describe('the image', () => {
  it('copies existing files, and nothing that .dockerignore hides', () => {
    expect(sources.length).toBeGreaterThan(5);
    expect(sources.filter((source) => !existsSync(repositoryPath(source)))).toEqual([]);
    expect(sources.filter((source) => !ignored.includes(`!${source}`))).toEqual([]);
  });

  it('sends nothing else to the builder', () => {
    expect(ignored[0]).toBe('*');
    const admitted = ignored.filter((line) => line.startsWith('!')).map((line) => line.slice(1));
    expect(admitted.filter((path) => !sources.includes(path))).toEqual([]);
  });

  it('copies every folder of sources', () => {
    for (const folder of ['src', 'workflows', 'activities']) expect(sources).toContain(folder);
  });

  it('is built on a pinned Node with glibc that package.json allows', () => {
    const [, version = '', variant] =
      /^NODE_IMAGE=node:([\d.]+)-([a-z-]+)(?:@sha256:[0-9a-f]{64})?$/.exec(instruction('ARG')[0] ?? '') ?? [];
    expect(version).toMatch(/^\d+\.\d+\.\d+$/);
    expect(variant).toMatch(/-slim$/);
    expect(variant).not.toMatch(/alpine/);
    const { engines } = JSON.parse(readRepositoryFile('package.json')) as { engines: { node: string } };
    const oldest = Number(/(\d+)/.exec(engines.node)?.[1]);
    expect(Number(version.split('.')[0])).toBeGreaterThanOrEqual(oldest);
  });

  it('runs the command line, as an unprivileged user', () => {
    expect(JSON.parse(instruction('ENTRYPOINT')[0] ?? '')).toEqual(['tini', '--', 'node', 'src/gateway.js']);
    expect(JSON.parse(instruction('CMD')[0] ?? '')).toEqual(['api']);
    expect(Number(instruction('USER').at(-1))).toBeGreaterThan(0);
    const { services } = readCompose();
    expect(services['api']?.command).toEqual(['api']);
    expect(services['worker']?.command).toEqual(['worker']);
  });

  it('contains no package that only local mode needs, and lacks none', () => {
    const { dependencies } = JSON.parse(readRepositoryFile('package.json')) as {
      dependencies: Record<string, string>;
    };
    const imported = ['src', 'workflows', 'activities'].flatMap(importsIn);
    expect(imported.length).toBeGreaterThan(20);
    expect([...new Set(imported)].filter((name) => !(name in dependencies))).toEqual([]);
    const { packages } = JSON.parse(readRepositoryFile('package-lock.json')) as {
      packages: Record<string, { dev?: true }>;
    };
    for (const name of ['@temporalio/testing', 'mongodb-memory-server-core', onlyOldNodesLoad])
      expect(packages[`node_modules/${name}`]?.dev).toBe(true);
  });

  it('runs on a Node that strips types itself', () => {
    const [, major] = /^NODE_IMAGE=node:(\d+)\./.exec(instruction('ARG')[0] ?? '') ?? [];
    expect(Number(major)).toBeGreaterThanOrEqual(24);
  });

  it('keeps only the build of the core for its platform', () => {
    const folder = repositoryPath('node_modules/@temporalio/core-bridge/releases');
    const builds = readdirSync(folder);
    for (const machine of ['x86_64', 'aarch64']) expect(builds).toContain(`${machine}-unknown-linux-gnu`);
    expect(dockerfile).toContain('! -name "$(uname -m)-unknown-linux-gnu"');
  });
});
