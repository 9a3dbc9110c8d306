import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { z } from 'zod';
import type { FactsTable } from '../../src/models/facts-table.ts';
import { providers } from '../../src/providers/index.ts';
import { factsDifferences, type ReadList } from './facts-differences.ts';
import { sdkLists, type SdkList } from './sdk-lists.ts';
import { pythonLiterals, typeLiterals, type Literals } from './type-literals.ts';

export interface NewestReport {
  readonly compared: readonly string[];
  readonly differences: readonly string[];
}

export interface NewestSdks {
  readonly programs: string;
  compare(): NewestReport;
  remove(): void;
}

export function installNewest(packages: readonly string[]): NewestSdks {
  const folder = mkdtempSync(join(tmpdir(), 'mediary-newest-sdks-'));
  const remove = () => {
    rmSync(folder, { recursive: true });
  };
  try {
    installFromNpm(folder);
    const programs = installPython(folder, packages);
    const compare = () => report([...readFromNpm(folder), ...readFromPypi(programs)]);
    return { programs, compare, remove };
  } catch (error) {
    remove();
    throw error;
  }
}

function report(lists: readonly ReadList[]): NewestReport {
  const tables = factsTables().map((table) => ({
    ...table,
    lists: lists.filter(({ vendor, kind }) => vendor === table.vendor && kind === table.kind),
  }));
  return {
    compared: [...new Set(lists.map(({ sdk, version }) => `${sdk} ${version}`))].toSorted(),
    differences: tables.flatMap(factsDifferences),
  };
}

const npmLists = sdkLists.flatMap((list) => ('npm' in list.sdk ? [{ ...list, sdk: list.sdk.npm }] : []));
const pypiLists = sdkLists.flatMap((list) => ('pypi' in list.sdk ? [{ ...list, sdk: list.sdk.pypi }] : []));
const namesOf = (lists: readonly { readonly sdk: string }[]) => [...new Set(lists.map(({ sdk }) => sdk))];

function installFromNpm(folder: string): void {
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true }));
  // Only the types of an SDK are read, so it may require a newer Node than this one.
  const words = 'install --no-audit --no-fund --ignore-scripts --engine-strict=false --silent'.split(' ');
  const newest = namesOf(npmLists).map((name) => `${name}@latest`);
  execFileSync('npm', [...words, ...newest], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
}

function readFromNpm(folder: string): ReadList[] {
  const read = typeLiterals(
    folder,
    npmLists.map(({ type }) => type),
  );
  return npmLists.map((list, at) => ({
    ...list,
    version: npmVersion(folder, list.sdk),
    read: readAt(read, at),
  }));
}

function npmVersion(folder: string, name: string): string {
  const text = readFileSync(join(folder, 'node_modules', name, 'package.json'), 'utf8');
  return z.object({ version: z.string() }).parse(JSON.parse(text)).version;
}

const pipReport = z.array(z.object({ name: z.string(), version: z.string() }));

function installPython(folder: string, packages: readonly string[]): string {
  execFileSync('python3', ['-m', 'venv', join(folder, 'venv')], { stdio: 'inherit' });
  const programs = join(folder, 'venv', 'bin');
  const words = ['install', '--quiet', '--disable-pip-version-check'];
  const names = new Set([...packages, ...namesOf(pypiLists)]);
  execFileSync(join(programs, 'pip'), [...words, ...names], { stdio: 'inherit' });
  return programs;
}

function readFromPypi(programs: string): ReadList[] {
  const pip = ['list', '--format=json', '--disable-pip-version-check'];
  const installed = pipReport.parse(
    JSON.parse(execFileSync(join(programs, 'pip'), pip, { encoding: 'utf8' })),
  );
  const read = pythonLiterals(
    join(programs, 'python'),
    pypiLists.map(({ type }) => type),
  );
  return pypiLists.map((list, at) => ({
    ...list,
    version: installed.find(({ name }) => name.replaceAll('_', '-') === list.sdk)?.version ?? 'unknown',
    read: readAt(read, at),
  }));
}

function readAt(read: readonly Literals[], at: number): Literals {
  return read[at] ?? { unreadable: 'the reader did not respond' };
}

interface Table {
  readonly vendor: string;
  readonly kind: SdkList['kind'];
  readonly table: FactsTable;
  readonly offered: readonly string[];
}

function factsTables(): Table[] {
  return Object.entries(providers).flatMap(([vendor, { video, image, imageTask }]) =>
    (
      [
        ['video', video?.facts],
        ['image', (image ?? imageTask)?.facts],
      ] as const
    ).flatMap(([kind, table]) =>
      table === undefined || typeof table === 'function'
        ? []
        : [{ vendor, kind, table, offered: offeredBy(vendor, kind) }],
    ),
  );
}

const example = z
  .object({
    channels: z.array(
      z.object({ provider: z.string(), models: z.record(z.string(), z.object({ upstream: z.string() })) }),
    ),
    models: z.array(z.object({ id: z.string(), kind: z.string() })),
  })
  .parse(parse(readFileSync(fileURLToPath(new URL('../../gateway.example.yaml', import.meta.url)), 'utf8')));

function offeredBy(vendor: string, kind: SdkList['kind']): string[] {
  const kinds = new Map(example.models.map((model) => [model.id, model.kind]));
  return example.channels
    .filter(({ provider }) => provider === vendor)
    .flatMap(({ models }) => Object.entries(models))
    .flatMap(([id, { upstream }]) => (kinds.get(id) === kind ? [upstream] : []));
}
