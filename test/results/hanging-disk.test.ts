import { execFileSync } from 'node:child_process';
import { pbkdf2 } from 'node:crypto';
import { closeSync, constants, mkdirSync, openSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { createDirectoryStorage } from '../../src/results/directory-storage.ts';

/** Opening a pipe that has no writer hangs, like a file on a network disk whose server is gone. */
it('a disk that hangs leaves threads for the rest of the process', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'mediary-hanging-'));
  const storage = createDirectoryStorage(directory);
  const tasks = Array.from({ length: 8 }, (_, n) => `task_0${n}`);
  const pipes = tasks.map((task) => join(directory, task.slice(-2), task, '0.png'));
  for (const pipe of pipes) {
    mkdirSync(dirname(pipe), { recursive: true });
    execFileSync('mkfifo', [pipe]);
  }
  const ended = Promise.allSettled(
    tasks.map(async (task) => {
      const file = await storage.read(`${task}/0.png`, { start: 0, end: 9 });
      for await (const _ of file);
    }),
  );
  onTestFinished(async () => {
    // A pipe opened in both directions has a writer, so its readers no longer wait. They see its end once it is closed.
    const writers = pipes.map((pipe) => openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK));
    const isOver = ended.then(() => true);
    while (!(await Promise.race([isOver, sleep(100, false)])))
      for (const writer of writers.splice(0, 1)) closeSync(writer);
    for (const writer of writers) closeSync(writer);
    await rm(directory, { recursive: true, force: true });
  });
  // The reads have begun by then.
  await sleep(100);
  const hash = promisify(pbkdf2);
  expect((await hash('a', 'b', 1, 16, 'sha256')).length).toBe(16);
});
