import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { rawEnvironment } from '../../src/config/environment.ts';
import { LocalServerError } from '../../src/local/servers/local-options.ts';
import { exists, isExecutable } from '../../src/local/servers/program-files.ts';
import { reasonIn, runCommand } from '../../src/local/servers/run-command.ts';

const buildTimeoutMs = 3_600_000;
const debianFolder = '/usr/lib/postgresql';

type Report = (line: string) => void;

/**
 * Returns the directory that contains Temporal's server and SQL tool. The first call builds them with Go, at low
 * priority and one package at a time. On two cores, this takes half an hour. Throws a LocalServerError if Go is
 * missing.
 */
export async function temporalPrograms(cacheDir: string, version: string, report: Report): Promise<string> {
  const folder = join(cacheDir, `temporal-server-${version}`);
  const module = 'go.temporal.io/server';
  await build(join(folder, 'temporal-sql-tool'), `${module}/cmd/tools/sql@v${version}`, report);
  await build(join(folder, 'temporal-server'), `${module}/cmd/server@v${version}`, report);
  return folder;
}

/** Go names the program after the last segment of its package. */
async function build(program: string, source: string, report: Report): Promise<void> {
  if (await isExecutable(program)) return;
  report(`building ${source} …`);
  const staged = `${program}-build`;
  await mkdir(staged, { recursive: true });
  await runGo(['install', '-ldflags=-s -w', source], { GOBIN: staged });
  const [built = ''] = await readdir(staged);
  await rename(join(staged, built), program);
  await rm(staged, { recursive: true });
}

async function runGo(args: readonly string[], more: NodeJS.ProcessEnv): Promise<void> {
  const environment = { ...rawEnvironment(), GOFLAGS: '-p=1', ...more };
  const command = ['nice', '-n', '15', 'go', ...args];
  const { ok, output } = await runCommand(command, { environment }, buildTimeoutMs);
  if (!ok) throw new LocalServerError(`go ${args.join(' ')}: ${reasonIn(output)}`);
}

/** Uses the newest PostgreSQL that is installed from a Debian package. Throws a LocalServerError if there is none. */
export async function postgresqlPrograms(): Promise<string> {
  const versions = (await exists(debianFolder)) ? await readdir(debianFolder) : [];
  const newest = versions.toSorted((one, other) => Number(other) - Number(one))[0];
  const folder = join(debianFolder, newest ?? '', 'bin');
  if (await isExecutable(join(folder, 'postgres'))) return folder;
  throw new LocalServerError(`No PostgreSQL in ${debianFolder}: apt-get install postgresql`);
}

/**
 * PostgreSQL refuses to run as root. If this process runs as root, the command therefore runs as PostgreSQL's own user.
 */
export function asPostgresUser(command: string, args: readonly string[]): readonly [string, string[]] {
  if (process.getuid?.() !== 0) return [command, [...args]];
  const user = ['--reuid=postgres', '--regid=postgres', '--init-groups', command];
  return ['setpriv', [...user, ...args]];
}
