import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isAlive, pidsOf, startLocalMode, type LocalMode } from '../support/local-mode.ts';
import { waitUntil } from '../support/processes.ts';
import { markServerUse } from '../support/server-use.ts';

const run = promisify(execFile);
const projectDir = fileURLToPath(new URL('../..', import.meta.url));

/**
 * A newcomer clones, installs, runs `npm start` and pastes the printed commands. DATA_DIR is empty in the first run, so
 * the servers come from whatever source this machine has. The second run uses what the first one left there. The
 * packages are those of this checkout, which .ci/run installs with `npm ci` before any test.
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
    await symlink(join(projectDir, 'node_modules'), join(clone, 'node_modules'), 'junction');
  });
  afterAll(async () => {
    await Promise.all(started.map((mode) => mode.interrupt()));
    await rm(directory, { recursive: true, force: true });
  });

  const start = async (): Promise<LocalMode> => {
    const mode = startLocalMode({ cwd: clone });
    started.push(mode);
    await mode.ready();
    return mode;
  };

  it('delivers a video through the printed commands, and ends what it started', async () => {
    const mode = await start();
    const [create = '', list = '', download = '', image = '', imageTask = ''] = mode.commands();
    const documented = await answerOf(await requestOfReadme(clone, create), clone);
    expect(documented).toMatchObject({ object: 'video.generation.task', status: 'submitted' });
    const created = await answerOf(create, clone);
    expect(created).toMatchObject({ object: 'video.generation.task', status: 'submitted' });
    expect((await answerOf(list, clone)).data[0].id).toBe(created.id);
    await bash(download, clone);
    expect((await readFile(join(clone, 'video.mp4'))).subarray(4, 8).toString()).toBe('ftyp');
    await bash(image, clone);
    const png = await readFile(join(clone, 'image.png'));
    expect(png.subarray(1, 4).toString()).toBe('PNG');
    expect(png.subarray(-8, -4).toString()).toBe('IEND');
    expect(await answerOf(imageTask, clone)).toMatchObject({ object: 'image.generation.task' });

    await temporalUiIsSafe(mode);

    const unfinished = await answerOf(create, clone);
    const newest = async (command: string) => (await answerOf(command, clone)).data[0];
    // Wait until the job has reached the upstream and has been recorded. After a shutdown between the two, the job
    // would be searched for only minutes later.
    await waitUntil('it is upstream', async () => (await newest(list)).status !== 'pending');
    const pids = await pidsOf(join(clone, '.mediary'));
    expect(pids.length).toBeGreaterThanOrEqual(5);
    await mode.interrupt();
    await waitUntil('every child has ended', () => Promise.resolve(pids.every((pid) => !isAlive(pid))));

    const again = await start();
    expect(again.output()).not.toContain('Fetching');
    const [, listAgain = ''] = again.commands();
    await waitUntil('the task in flight has ended', async () => {
      const { id, status } = await newest(listAgain);
      return id === unfinished.id && status === 'succeeded';
    });
    await again.interrupt();
  }, 900_000);

  it('shows a task’s life with npm run demo, and exits 0', async () => {
    const demo = startLocalMode({ cwd: clone, script: 'demo' });
    started.push(demo);
    expect(await demo.ended).toBe(0);
    for (const word of ['created task_', 'succeeded', 'downloaded', 'callback arrived'])
      expect(demo.output()).toContain(word);
  }, 900_000);
});

async function temporalUiIsSafe(mode: LocalMode): Promise<void> {
  const ui = /Temporal UI +(http\S+)/.exec(mode.output())?.[1] ?? '';
  await waitUntil('the UI listens', async () => (await fetch(ui)).ok);
  expect(await (await fetch(ui)).text()).toMatch(/<!doctype html>/);
  expect(await (await fetch(`${ui}/api/v1/settings`)).json()).toMatchObject({
    StartWorkflowDisabled: true,
    WorkflowTerminateDisabled: true,
    WorkflowResetDisabled: true,
  });
}

async function requestOfReadme(clone: string, printed: string): Promise<string> {
  const [, section = ''] = (await readFile(join(clone, 'README.md'), 'utf8')).split('## One request\n');
  const curl = /```sh\n([^]*?)\n```/.exec(section)?.[1] ?? '';
  expect(curl).toContain('http://127.0.0.1:8080/');
  const [origin = ''] = /http:\/\/[^/]+/.exec(printed) ?? [];
  const [key = ''] = /sk-\w+/.exec(printed) ?? [];
  expect(curl).toContain('KEY=sk-…\n');
  return curl.replace('sk-…', key).replace('http://127.0.0.1:8080', origin);
}

async function bash(command: string, cwd: string): Promise<string> {
  return (await run('bash', ['-c', command], { cwd, maxBuffer: 10_000_000 })).stdout;
}

/** Repeats the command while the gateway is busy. This is safe, because a busy gateway does nothing. */
async function answerOf(command: string, cwd: string) {
  for (;;) {
    const answer = JSON.parse(await bash(command, cwd));
    if (answer.error?.code !== 'service_unavailable') return answer;
    await delay(1_000);
  }
}
