import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { request } from 'undici';
import { rawEnvironment } from '../src/config/environment.ts';
import { openStand } from './bench/support/stand.ts';
import { installFromPypi } from './pypi-venv.ts';
import { typescriptClient } from './generated-clients/typescript.ts';
import { startOwnGateway } from './schemathesis/own-gateway.ts';

/**
 * `npm run generated-clients`: openapi-typescript with openapi-fetch, and openapi-python-client, each make a client from the
 * OpenAPI document of a running gateway. Each client creates and reads a video, generates and edits an image, and reads
 * an error. Needs Python 3 with venv and pip.
 */

const directory = mkdtempSync(join(tmpdir(), 'mediary-generated-clients-'));
const stand = await openStand();
try {
  const { url, key } = await startOwnGateway(stand);
  writeFileSync(join(directory, 'openapi.json'), await (await request(`${url}/openapi.json`)).body.text());
  runTypescript([url, key]);
  runPython([url, key]);
} finally {
  await stand.close();
  rmSync(directory, { recursive: true, force: true });
}

function runTypescript(target: readonly string[]): void {
  writeFileSync(join(directory, 'client.ts'), typescriptClient);
  writeFileSync(join(directory, 'package.json'), '{ "type": "module" }');
  const compiler = ['typescript@5.9.3', '@types/node@20.19.43', 'tsx@4.23.15'];
  const packages = [...compiler, 'openapi-typescript@7.13.0', 'openapi-fetch@0.17.0'];
  run('npm', ['install', '--silent', '--no-audit', '--no-fund', ...packages]);
  run('npx', ['openapi-typescript', 'openapi.json', '-o', 'types.d.ts']);
  const strict = ['--noEmit', '--strict', '--skipLibCheck', '--allowImportingTsExtensions'];
  run('npx', [
    'tsc',
    ...strict,
    '--module',
    'nodenext',
    '--target',
    'es2023',
    '--types',
    'node',
    'client.ts',
  ]);
  run('npx', ['tsx', 'client.ts', ...target]);
}

function runPython(target: readonly string[]): void {
  const packages = ['openapi-python-client==0.29.1', 'ruff==0.17.6', 'httpx==0.28.1'];
  const programs = installFromPypi('openapi-python-client-0.29.1', packages);
  const environment = {
    ...rawEnvironment(),
    PATH: `${programs}:${rawEnvironment()['PATH'] ?? ''}`,
    PYTHONPATH: join(directory, 'python'),
  };
  const generate = ['generate', '--path', 'openapi.json', '--output-path', 'python'];
  run(join(programs, 'openapi-python-client'), generate, environment);
  const program = fileURLToPath(new URL('generated-clients/client.py', import.meta.url));
  run(join(programs, 'python'), [program, ...target], environment);
}

function run(program: string, args: readonly string[], env = rawEnvironment()): void {
  execFileSync(program, args, { cwd: directory, stdio: ['ignore', 'inherit', 'inherit'], env });
}
