import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { waitUntil } from '../support/processes.ts';
import { markServerUse } from '../support/server-use.ts';

const run = promisify(execFile);
const projectDir = fileURLToPath(new URL('../..', import.meta.url));
const readyWithinMs = 240_000;

/**
 * What a newcomer does: clone, `npm ci`, `npm start`, paste the printed commands. With an empty DATA_DIR first, so that
 * the servers come from whatever source this machine has; then with what the first start left there.
 */
describe('a clean clone', () => {
  let directory: string;
  let clone: string;
  const started: LocalMode[] = [];

  beforeAll(async () => {
    markServerUse();
    directory = await mkdtemp(join(tmpdir(), 'mediary-clone-'));
    clone = join(directory, 'mediary');
    await run('git', ['clone', '--quiet', projectDir, clone]);
    await run('npm', ['ci', '--prefer-offline', '--no-audit', '--no-fund'], {
      cwd: clone,
      maxBuffer: 10_000_000,
    });
  }, 300_000);
  afterAll(async () => {
    await Promise.all(started.map((mode) => mode.interrupt()));
    await rm(directory, { recursive: true, force: true });
  });

  const start = async (script = 'start'): Promise<LocalMode> => {
    const mode = startLocalMode(clone, script);
    started.push(mode);
    await waitUntil(
      'npm start is ready',
      () => Promise.resolve(mode.output().includes('Mediary is ready')),
      readyWithinMs,
    );
    return mode;
  };

  it('delivers a video through the printed commands, and ends what it started', async () => {
    const mode = await start();
    const [create = '', list = '', download = '', image = ''] = mode.commands();
    const created = JSON.parse(await bash(create, clone));
    expect(created).toMatchObject({ object: 'video.generation.task', status: 'submitted' });
    await waitUntil(
      'the list shows the video',
      async () => JSON.parse(await bash(list, clone)).data[0].status === 'succeeded',
      60_000,
    );
    await bash(download, clone);
    expect((await readFile(join(clone, 'video.mp4'))).subarray(4, 8).toString()).toBe('ftyp');
    expect(await bash(image, clone)).toMatch(/^\{"created":\d+,.*"b64_json":"/);

    const second = startLocalMode(clone, 'start');
    expect(await second.ended).toBe(1);
    expect(second.output()).toMatch(/is in use by process \d+/);

    const unfinished = JSON.parse(await bash(create, clone));
    const pids = await pidsOf(join(clone, '.mediary'));
    expect(pids.length).toBeGreaterThanOrEqual(4);
    await mode.interrupt();
    await waitUntil(
      'every child has ended',
      () => Promise.resolve(pids.every((pid) => !isAlive(pid))),
      30_000,
    );

    const again = await start();
    expect(again.output()).not.toContain('Fetching');
    const [, listAgain = ''] = again.commands();
    await waitUntil(
      'the task in flight has ended',
      async () => {
        const [newest] = JSON.parse(await bash(listAgain, clone)).data;
        return newest.id === unfinished.id && newest.status === 'succeeded';
      },
      60_000,
    );
    await again.interrupt();
  }, 600_000);

  it('shows a task’s life with npm run demo, and exits 0', async () => {
    const demo = startLocalMode(clone, 'demo');
    started.push(demo);
    expect(await demo.ended).toBe(0);
    for (const word of ['created task_', 'succeeded', 'downloaded', 'callback arrived'])
      expect(demo.output()).toContain(word);
  }, 300_000);
});

interface LocalMode {
  output(): string;
  /** The curl commands of the banner. */
  commands(): string[];
  /** Ctrl-C; resolves when the process has ended. */
  interrupt(): Promise<void>;
  readonly ended: Promise<number | null>;
}

function startLocalMode(cwd: string, script: string): LocalMode {
  // Nothing of this test run's own configuration: what a newcomer's shell has.
  const { PATH, HOME, LANG, JAVA_HOME, HTTP_PROXY, HTTPS_PROXY, NO_PROXY, PIP_INDEX_URL } = process.env;
  const environment = { PATH, HOME, LANG, JAVA_HOME, HTTP_PROXY, HTTPS_PROXY, NO_PROXY, PIP_INDEX_URL };
  const child: ChildProcess = spawn(
    process.execPath,
    ['--import', 'tsx', 'src/local.ts', ...(script === 'demo' ? ['demo'] : [])],
    {
      cwd,
      env: Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== undefined)),
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let output = '';
  child.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const ended = once(child, 'exit').then(([code]: unknown[]) => (typeof code === 'number' ? code : null));
  return {
    output: () => output,
    commands: () => output.split('\n').filter((line) => line.startsWith('  curl')),
    async interrupt() {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGINT');
      await ended;
    },
    ended,
  };
}

async function bash(command: string, cwd: string): Promise<string> {
  return (await run('bash', ['-c', command], { cwd, maxBuffer: 10_000_000 })).stdout;
}

/** Of the servers and processes that local mode started. */
async function pidsOf(dataDir: string): Promise<number[]> {
  const files = await readdir(join(dataDir, 'run'));
  const texts = await Promise.all(files.map((name) => readFile(join(dataDir, 'run', name), 'utf8')));
  return texts.map((text) => Number(JSON.parse(text).pid));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
