import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { rawEnvironment } from '../../src/config/environment.ts';

/** `broken` means that the run did not pass although no test failed, so the run proves nothing. */
export type Verdict = 'passed' | 'failed' | 'timeout' | 'broken';

const runMaxMs = 300_000;
const reportSchema = z.object({ numFailedTests: z.number() });

/** Runs test files in a copy of the project. `cacheDir` is the folder of the servers' programs. */
export function runTests(
  copy: string,
  files: readonly string[],
  cacheDir: string,
): { readonly verdict: Verdict; readonly output: string } {
  const report = join(copy, 'report.json');
  rmSync(report, { force: true });
  const reporters = ['--reporter=dot', '--reporter=json', `--outputFile.json=${report}`];
  // A mutant may make tests wait forever, and one failure is enough.
  const impatient = ['--bail=1', '--testTimeout=180000', '--expect.poll.timeout=60000'];
  const { status, signal, stdout, stderr } = spawnSync(
    join(copy, 'node_modules/.bin/vitest'),
    ['run', '--maxWorkers=1', ...reporters, ...impatient, ...files],
    {
      cwd: copy,
      env: { ...rawEnvironment(), MEDIARY_CACHE_DIR: cacheDir },
      timeout: runMaxMs,
      encoding: 'utf8',
      maxBuffer: 2 ** 27,
    },
  );
  const output = `${stdout}\n${stderr}`;
  if (status === 0) return { verdict: 'passed', output };
  if (signal !== null) return { verdict: 'timeout', output };
  if (!existsSync(report)) return { verdict: 'broken', output };
  const { numFailedTests } = reportSchema.parse(JSON.parse(readFileSync(report, 'utf8')));
  return { verdict: numFailedTests > 0 ? 'failed' : 'broken', output };
}
