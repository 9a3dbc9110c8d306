import { execFile } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { rawEnvironment } from '../../src/config/environment.ts';

/** `broken`: no test failed, and yet the run did not pass; nothing can be concluded. */
export type Verdict = 'passed' | 'failed' | 'timeout' | 'broken';

const runMaxMs = 300_000;

const reportSchema = z.object({ numFailedTests: z.number() });

/** Runs test files of a copy of the project. `cacheDir`: where the servers' programs are. */
export async function runTests(
  copy: string,
  files: readonly string[],
  cacheDir: string,
): Promise<{ readonly verdict: Verdict; readonly output: string }> {
  const report = join(copy, 'report.json');
  rmSync(report, { force: true });
  const reporters = ['--reporter=dot', '--reporter=json', `--outputFile.json=${report}`];
  // A mutant lets tests wait for what never comes, and one that fails says enough.
  const impatient = ['--bail=1', '--testTimeout=180000', '--expect.poll.timeout=60000'];
  const args = ['run', '--maxWorkers=1', ...reporters, ...impatient];
  const { failed, killed, output } = await execute(
    join(copy, 'node_modules/.bin/vitest'),
    [...args, ...files],
    {
      cwd: copy,
      env: { ...rawEnvironment(), MEDIARY_CACHE_DIR: cacheDir },
      timeout: runMaxMs,
    },
  );
  if (!failed) return { verdict: 'passed', output };
  if (killed) return { verdict: 'timeout', output };
  if (!existsSync(report)) return { verdict: 'broken', output };
  const { numFailedTests } = reportSchema.parse(JSON.parse(readFileSync(report, 'utf8')));
  return { verdict: numFailedTests > 0 ? 'failed' : 'broken', output };
}

interface Executed {
  readonly failed: boolean;
  readonly killed: boolean;
  readonly output: string;
}

function execute(
  program: string,
  args: readonly string[],
  options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv; readonly timeout: number },
): Promise<Executed> {
  return new Promise((resolve) => {
    execFile(program, args, { ...options, maxBuffer: 2 ** 27 }, (error, stdout, stderr) => {
      resolve({ failed: error !== null, killed: error?.killed === true, output: `${stdout}\n${stderr}` });
    });
  });
}
