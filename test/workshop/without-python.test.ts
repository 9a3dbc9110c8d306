import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { loadsTypeScript } from '../support/typescript.ts';

const run = promisify(execFile);

it.each([
  ['schemathesis', /schemathesis [\d.]+ could not be installed: it needs python3/],
  [
    'vendor-sdks',
    /dashscope [\d.]+, luma-agents [\d.]+, PyJWT\[crypto\] [\d.]+ could not be installed: it needs python3/,
  ],
])('without Python %s fails, and does not pass silently', async (name, words) => {
  const directory = await mkdtemp(join(tmpdir(), 'mediary-no-python-'));
  const started = run(process.execPath, [...loadsTypeScript, `workshop/${name}.ts`], {
    env: { PATH: directory, MEDIARY_CACHE_DIR: directory },
  });
  await expect(started).rejects.toMatchObject({ code: 1, stderr: expect.stringMatching(words) });
  await rm(directory, { recursive: true });
});
