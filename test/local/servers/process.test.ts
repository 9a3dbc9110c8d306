import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';

import { expect, it } from 'vitest';

import { messageOf } from '../../../src/base/caught.ts';
import { identifyProcess } from '../../../src/process/process-identity.ts';
import { startChild, waitUntilServing } from '../../../src/local/servers/process.ts';
import { runCommand } from '../../../src/local/servers/run-command.ts';
import { runProgram } from './programs/run-program.ts';
import { scratchOptions } from './scratch.ts';

const shell = (script: string) => ({ name: 'child', command: 'sh', args: ['-c', script] });

async function untilGone(pid: number): Promise<void> {
  while ((await identifyProcess(pid)) !== undefined) {
    await delay(20);
  }
}

it('an early exit is an error that contains the end of the log', async () => {
  const options = await scratchOptions();
  const child = await startChild({ ...options, ...shell('echo one; echo two >&2; exit 3') });
  const serving = waitUntilServing(child, () => Promise.reject(new Error('refused')), Infinity);
  await expect(serving).rejects.toThrow(
    /^child exited with status 3\. The end of .*child\.log:\n {2}one\n {2}two$/u,
  );
});

it('shows the error of a mongod that exits after one, instead of its exit status', async () => {
  const options = await scratchOptions();
  const line = (severity: string, text: string) =>
    `{"t":{},"s":"${severity}",  "c":"CONTROL","msg":"${text}"}`;
  const ending = Array.from({ length: 30 }, (_, n) => line('I', `Shutting down part ${n}`));
  const shown = async (...log: readonly string[]): Promise<string[]> => {
    const child = await startChild({ ...options, ...shell(`echo '${log.join('\n')}'; exit 48`) });
    const failure = await waitUntilServing(child, () => child.exited, Infinity).catch(messageOf);
    return String(failure).split('\n  ').slice(1);
  };
  const inUse = line('E', 'Error setting up listener: Address already in use');
  expect(await shown(line('I', 'MongoDB starting'), inUse, ...ending)).toEqual([inUse]);
  expect(await shown(...ending)).toEqual(ending.slice(-15));
});

it('a server that does not respond in time is an error that explains why', async () => {
  const options = await scratchOptions();
  const child = await startChild({ ...options, ...shell('sleep 600') });
  const serving = waitUntilServing(child, () => Promise.reject(new Error('refused')), 100);
  await expect(serving).rejects.toThrow('child does not respond: refused');
  expect(child.hasExited()).toBe(true);
});

it('a missing program is an error', async () => {
  const options = await scratchOptions();
  const starting = startChild({ ...options, name: 'child', command: 'no-such-program', args: [] });
  await expect(starting).rejects.toThrow('child cannot be started: spawn no-such-program ENOENT');
});

it('stop lets the child shut down cleanly; kill does not', async () => {
  const options = await scratchOptions();
  const script = shell('trap "echo bye; exit 0" TERM; echo up; while :; do sleep 0.05; done');
  const polite = await startChild({ ...options, ...script });
  await waitUntilServing(
    polite,
    async () => expect(await readFile(polite.logFile, 'utf8')).toContain('up'),
    Infinity,
  );
  await polite.stop();
  expect(await polite.exited).toBe('exited with status 0');
  expect(await readFile(polite.logFile, 'utf8')).toContain('bye');
  await polite.stop();

  const killed = await startChild({ ...options, ...script });
  await killed.kill();
  expect(await killed.exited).toBe('was ended by SIGKILL');
});

it('a child dies with its killed parent', async () => {
  const { dataDir } = await scratchOptions();
  const parent = await runProgram(new URL('./programs/parent.ts', import.meta.url), dataDir);
  const childPid = Number(parent.line);
  expect(await identifyProcess(childPid)).toMatchObject({ pid: childPid });
  await parent.kill();
  await untilGone(childPid);
});

it('a child left over from an earlier run is reported and ended before the next one starts', async () => {
  const options = await scratchOptions();
  const leftover = await startChild({ ...options, ...shell('exec sleep 600') });
  const next = await startChild({ ...options, ...shell('exec sleep 600') });
  expect(await leftover.exited).toBe('was ended by SIGTERM');
  expect(options.lines).toEqual([`Ending child (pid ${leftover.pid}), left over from an earlier run.`]);
  await next.stop();
});

it('a command that hangs is abandoned, even if its own child holds the streams', async () => {
  const command = ['sh', '-c', 'echo started; sleep 60; :'];
  // On a busy machine, the shell may take longer than the first limit to write its line.
  for (let seconds = 1; ; seconds *= 2) {
    const { ok, output } = await runCommand(command, { environment: process.env }, seconds * 1000);
    expect(ok).toBe(false);
    if (output === `\nerror: timed out after ${seconds} s`) continue;
    expect(output).toBe(`started\n\nerror: timed out after ${seconds} s`);
    break;
  }
});
