import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { rawEnvironment } from '../src/config/environment.ts';

/**
 * `npm run package [-- --destination DIR]`: writes mediary-VERSION.tgz, the file that `npm publish` would publish, and
 * prints its path. Every TypeScript source is compiled in place, because Node does not strip types inside node_modules.
 * Other files are copied.
 */

const root = fileURLToPath(new URL('..', import.meta.url));
const folders = ['src', 'workflows', 'activities', 'workshop/simulator'];
const copied = [
  'src/pages',
  'workshop/mongo-standin',
  'docs',
  'README.md',
  'LICENSE',
  'gateway.example.yaml',
];
/** `npx mediary` needs these packages to download servers. The container image does not. */
const forServers = ['@temporalio/testing', 'mongodb-memory-server-core'];

const manifestSchema = z.looseObject({
  dependencies: z.record(z.string(), z.string()),
  devDependencies: z.record(z.string(), z.string()),
});

const { values } = parseArgs({ options: { destination: { type: 'string', default: '.' } } });
const directory = mkdtempSync(join(tmpdir(), 'mediary-package-'));
try {
  compile({ include: folders.map((folder) => join(root, folder)) });
  // Only the client gets type declarations, because users must not import anything else.
  compile({ include: [join(root, 'src/client')], declaration: true });
  for (const folder of folders) {
    cpSync(join(root, folder), join(directory, folder), {
      recursive: true,
      filter: (path) => !/\.[jt]s$/.test(path),
    });
  }
  for (const name of copied) {
    cpSync(join(root, name), join(directory, name), {
      recursive: true,
      filter: (path) => !path.endsWith('.ts'),
    });
  }
  writeFileSync(join(directory, 'package.json'), `${JSON.stringify(manifest(), undefined, 2)}\n`);
  const destination = resolve(values.destination);
  const [packed] = z
    .tuple([z.object({ filename: z.string(), size: z.number(), entryCount: z.number() })])
    .parse(JSON.parse(run('npm', ['pack', directory, '--pack-destination', destination, '--json'])));
  console.error(`${packed.entryCount} files, ${(packed.size / 1e6).toFixed(1)} MB`);
  console.log(join(destination, packed.filename));
} finally {
  rmSync(directory, { recursive: true });
}

function compile({
  include,
  ...more
}: {
  readonly include: readonly string[];
  readonly declaration?: true;
}): void {
  const options = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: {
      ...more,
      noEmit: false,
      noCheck: true,
      rootDir: root,
      outDir: directory,
      rewriteRelativeImportExtensions: true,
      typeRoots: [join(root, 'node_modules/@types')],
    },
    include,
    exclude: [join(root, 'src/pages')],
  };
  const file = join(directory, 'tsconfig.json');
  writeFileSync(file, JSON.stringify(options));
  run('npx', ['tsc', '-p', file]);
  rmSync(file);
}

function manifest() {
  const {
    scripts: _,
    devDependencies,
    ...kept
  } = manifestSchema.parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')));
  const fetchers = forServers.map((name): [string, string] => [name, devDependencies[name] ?? '']);
  return {
    ...kept,
    ...repositoryFields(),
    exports: {
      './client': { types: './src/client/client.d.ts', default: './src/client/client.js' },
      './package.json': './package.json',
    },
    dependencies: { ...kept.dependencies, ...Object.fromEntries(fetchers) },
  };
}

/** npm compares this field with the provenance of the package. It is set only in a release. */
function repositoryFields() {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: name } = rawEnvironment();
  if (server === undefined || name === undefined) return {};
  const address = `${server}/${name}`;
  return {
    homepage: `${address}#readme`,
    repository: { type: 'git', url: `git+${address}.git` },
    bugs: { url: `${address}/issues` },
  };
}

function run(command: string, words: readonly string[]): string {
  return execFileSync(command, words, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
}
