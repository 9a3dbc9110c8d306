import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const run = promisify(execFile);

it('without Python the generated requests fail, and do not pass in silence', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'mediary-no-python-'));
  const started = run(process.execPath, ['--import', 'tsx', 'scripts/schemathesis.ts'], {
    env: { PATH: directory, MEDIARY_CACHE_DIR: directory },
  });
  await expect(started).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/schemathesis [\d.]+ could not be installed: it needs python3/),
  });
  await rm(directory, { recursive: true });
}, 60_000);
