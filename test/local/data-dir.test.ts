import { chmod, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, it } from 'vitest';

import { lockDataDir } from '../../src/local/data-dir.ts';
import { runProgram } from './servers/programs/run-program.ts';
import { scratchDirectory } from './servers/scratch.ts';

it('a data directory is created, and can be locked once', async () => {
  const dataDir = join(await scratchDirectory(), 'new');
  const lock = await lockDataDir(dataDir);
  await expect(lockDataDir(dataDir)).rejects.toThrow(`${dataDir} is in use by process ${process.pid}`);
  await lock.release();
  await (await lockDataDir(dataDir)).release();
  expect(await readdir(dataDir)).toEqual([]);
});

it('a data directory becomes private to its user, even if it was not before', async () => {
  const dataDir = await scratchDirectory();
  await chmod(dataDir, 0o755);
  await lockDataDir(dataDir);
  expect((await stat(dataDir)).mode & 0o777).toBe(0o700);
});

it('a directory of another running process is refused with its pid; a killed one leaves it free', async () => {
  const dataDir = await scratchDirectory();
  const other = await runProgram(new URL('./servers/programs/hold-lock.ts', import.meta.url), dataDir);
  await expect(lockDataDir(dataDir)).rejects.toThrow(
    `${dataDir} is in use by process ${other.child.pid}: stop it, or set DATA_DIR to another directory.`,
  );
  await other.kill();
  await lockDataDir(dataDir);
  const [left = '', ...more] = await readdir(dataDir);
  expect(more).toEqual([]);
  expect(JSON.parse(await readFile(join(dataDir, left), 'utf8'))).toMatchObject({ pid: process.pid });
});

it('the lock of a process whose pid was reused is stale', async () => {
  const dataDir = await scratchDirectory();
  await writeFile(
    join(dataDir, 'lock.dead'),
    JSON.stringify({ pid: process.ppid, startedAt: '1', holds: true }),
  );
  await expect(lockDataDir(dataDir)).resolves.toBeDefined();
});

it('a lock that cannot be read is stale', async () => {
  const dataDir = await scratchDirectory();
  await writeFile(join(dataDir, 'lock.broken'), '{"pid":');
  await expect(lockDataDir(dataDir)).resolves.toBeDefined();
});

it('of many processes that take over a stale lock at once, one succeeds', async () => {
  for (let round = 0; round < 20; round += 1) {
    const dataDir = await scratchDirectory();
    await writeFile(
      join(dataDir, 'lock.old'),
      JSON.stringify({ pid: 999_999_999, startedAt: '1', holds: true }),
    );
    const outcomes = await Promise.allSettled(Array.from({ length: 5 }, () => lockDataDir(dataDir)));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await readdir(dataDir)).toHaveLength(1);
  }
});
