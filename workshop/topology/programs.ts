import { copyFile, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { rawEnvironment } from '../../src/config/environment.ts';
import { LocalServerError } from '../../src/local/servers/local-options.ts';
import { exists, isExecutable } from '../../src/local/servers/program-files.ts';
import { reasonIn, runCommand } from '../../src/local/servers/run-command.ts';

const buildTimeoutMs = 3_600_000;
const downloadTimeoutMs = 300_000;
const debianFolder = '/usr/lib/postgresql';
const uiModule = 'github.com/temporalio/ui-server/v2';
const moduleSchema = z.looseObject({ Dir: z.string() });

type Report = (line: string) => void;

/**
 * The folder with Temporal's server and SQL tool of this version, built from the Go module proxy the first time: half an hour
 * on two cores, at low priority and one package at a time. Throws a LocalServerError without Go.
 */
export async function temporalPrograms(cacheDir: string, version: string, report: Report): Promise<string> {
  const folder = join(cacheDir, `temporal-server-${version}`);
  const module = 'go.temporal.io/server';
  await build(join(folder, 'temporal-sql-tool'), `${module}/cmd/tools/sql@v${version}`, report);
  await build(join(folder, 'temporal-server'), `${module}/cmd/server@v${version}`, report);
  return folder;
}

/** The folder with the Temporal UI, `temporal-ui`, and the file that its image makes its settings from, `docker.yaml`. */
export async function temporalUi(cacheDir: string, version: string, report: Report): Promise<string> {
  const folder = join(cacheDir, `temporal-ui-${version}`);
  const template = join(folder, 'docker.yaml');
  await build(join(folder, 'temporal-ui'), `${uiModule}/cmd/server@v${version}`, report);
  if (await exists(template)) return folder;
  const found = await runGo(['mod', 'download', '-json', `${uiModule}@v${version}`], downloadTimeoutMs);
  const { Dir } = moduleSchema.parse(JSON.parse(found));
  await copyFile(join(Dir, 'config', 'docker.yaml'), template);
  return folder;
}

/** Go names a program after the last part of its package. */
async function build(program: string, source: string, report: Report): Promise<void> {
  if (await isExecutable(program)) return;
  report(`building ${source} …`);
  const staged = `${program}-build`;
  await mkdir(staged, { recursive: true });
  await runGo(['install', '-ldflags=-s -w', source], buildTimeoutMs, { GOBIN: staged });
  const [built = ''] = await readdir(staged);
  await rename(join(staged, built), program);
  await rm(staged, { recursive: true });
}

async function runGo(
  args: readonly string[],
  timeoutMs: number,
  more: NodeJS.ProcessEnv = {},
): Promise<string> {
  const environment = { ...rawEnvironment(), GOFLAGS: '-p=1', ...more };
  const { ok, output } = await runCommand(['nice', '-n', '15', 'go', ...args], { environment }, timeoutMs);
  if (!ok) throw new LocalServerError(`go ${args.join(' ')}: ${reasonIn(output)}`);
  return output;
}

/** The folder of PostgreSQL's programs: the newest of Debian's. Throws a LocalServerError if there is none. */
export async function postgresqlPrograms(): Promise<string> {
  const versions = (await exists(debianFolder)) ? await readdir(debianFolder) : [];
  const newest = versions.toSorted((one, other) => Number(other) - Number(one))[0];
  const folder = join(debianFolder, newest ?? '', 'bin');
  if (await isExecutable(join(folder, 'postgres'))) return folder;
  throw new LocalServerError(`No PostgreSQL in ${debianFolder}: apt-get install postgresql`);
}

/** PostgreSQL does not run as root: there, its own user does it. */
export function asPostgresUser(command: string, args: readonly string[]): readonly [string, string[]] {
  if (process.getuid?.() !== 0) return [command, [...args]];
  const user = ['--reuid=postgres', '--regid=postgres', '--init-groups', command];
  return ['setpriv', [...user, ...args]];
}
