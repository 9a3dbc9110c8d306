import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { request } from 'undici';
import { rawEnvironment } from '../../src/config/environment.ts';
import { installFromPypi } from '../pypi-venv.ts';
import { typescriptClient } from './generated-client.ts';
import type { Deployment } from './python-clients.ts';

export function generateTypescript(deployment: Deployment): Promise<void> {
  return inFolder(deployment, (run) => {
    const packages = ['typescript@5.9.3', '@types/node@20.19.43', 'tsx@4.23.15'];
    const generators = ['openapi-typescript@7.13.0', 'openapi-fetch@0.17.0'];
    run('npm', ['install', '--silent', '--no-audit', '--no-fund', ...packages, ...generators]);
    run('npx', ['openapi-typescript', 'openapi.json', '-o', 'types.d.ts']);
    run('npx', ['tsc', '-p', '.']);
    run('npx', ['tsx', 'client.ts', ...argumentsOf(deployment)]);
  });
}

export function generatePython(deployment: Deployment): Promise<void> {
  const packages = ['openapi-python-client==0.29.1', 'ruff==0.17.6', 'httpx==0.28.1'];
  const programs = installFromPypi('openapi-python-client-0.29.1', packages);
  const program = fileURLToPath(new URL('generated-client.py', import.meta.url));
  return inFolder(deployment, (run, folder) => {
    const environment = {
      PATH: `${programs}:${rawEnvironment()['PATH']}`,
      PYTHONPATH: join(folder, 'python'),
    };
    const generate = ['generate', '--path', 'openapi.json', '--output-path', 'python'];
    run(join(programs, 'openapi-python-client'), generate, environment);
    run(join(programs, 'python'), [program, ...argumentsOf(deployment)], environment);
  });
}

function argumentsOf({ url, key, model, videoModel }: Deployment): readonly string[] {
  return [url, key, model, videoModel];
}

const compilerOptions = {
  noEmit: true,
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: true,
  allowImportingTsExtensions: true,
  module: 'nodenext',
  target: 'es2023',
  types: ['node'],
};

type Run = (program: string, args: readonly string[], environment?: NodeJS.ProcessEnv) => void;

async function inFolder({ url }: Deployment, work: (run: Run, folder: string) => void): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'mediary-generated-clients-'));
  const files = {
    'openapi.json': await (await request(`${url}/openapi.json`)).body.text(),
    'package.json': '{ "type": "module" }',
    'tsconfig.json': JSON.stringify({ compilerOptions, files: ['client.ts'] }),
    'client.ts': typescriptClient,
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  try {
    work((program, args, environment = {}) => {
      const env = { ...rawEnvironment(), ...environment };
      execFileSync(program, args, { cwd: folder, stdio: ['ignore', 'inherit', 'inherit'], env });
    }, folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
