import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync } from 'node:fs';
import { readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { rawEnvironment } from '../src/config/environment.ts';
import { mutate, readMutants, type Mutant } from './mutants/corpus.ts';

/**
 * `npm run mutants [-- --only TEXT]`: breaks promises of the code one by one, each in a copy of the working tree, and
 * runs the tests that must fail. Not part of CI, because it takes about forty minutes. `--only` selects mutants whose
 * file or broken promise contains the text.
 */

/** `broken` means that the run did not pass but no test failed either, so it proves nothing. */
type Verdict = 'passed' | 'failed' | 'timeout' | 'broken';

const runMaxMs = 300_000;
const reportSchema = z.object({ numFailedTests: z.number() });

const root = fileURLToPath(new URL('..', import.meta.url));
const { values } = parseArgs({ options: { only: { type: 'string', default: '' } } });
const chosen = readMutants().filter(({ file, breaks }) => `${file} ${breaks}`.includes(values.only));
if (chosen.length === 0) throw new Error(`no mutant's file or promise contains "${values.only}"`);
const cacheDir = rawEnvironment()['MEDIARY_CACHE_DIR'] ?? join(root, '.mediary');
const copy = mkdtempSync(join(tmpdir(), 'mediary-mutants-'));
try {
  copyTree();
  passUnchanged();
  const survivors = applyAll();
  report(`${chosen.length - survivors.length} of ${chosen.length} mutants were killed`);
  if (survivors.length > 0) process.exitCode = 1;
} finally {
  rmSync(copy, { recursive: true, force: true });
}

function copyTree(): void {
  const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  });
  for (const file of files.split('\n').filter((name) => name !== '' && name !== 'node_modules')) {
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    cpSync(join(root, file), join(copy, file));
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
}

function passUnchanged(): void {
  const files = [...new Set(chosen.flatMap(({ tests }) => tests))];
  const { verdict, output } = runTests(files);
  if (verdict !== 'passed') throw new Error(`without a mutation the tests do not pass:\n${output}`);
}

function applyAll(): Mutant[] {
  const survivors: Mutant[] = [];
  for (const mutant of chosen) {
    const verdict = apply(mutant);
    const isKilled = verdict === 'failed' || verdict === 'timeout';
    if (!isKilled) survivors.push(mutant);
    report(`${isKilled ? 'killed' : 'SURVIVED'} (${verdict})  ${mutant.file}: ${mutant.breaks}`);
  }
  return survivors;
}

function apply(mutant: Mutant): Verdict {
  const path = join(copy, mutant.file);
  const original = readFileSync(path, 'utf8');
  writeFileSync(path, mutate(original, mutant));
  try {
    return runTests(mutant.tests).verdict;
  } finally {
    writeFileSync(path, original);
  }
}

function runTests(files: readonly string[]): { readonly verdict: Verdict; readonly output: string } {
  const report = join(copy, 'report.json');
  rmSync(report, { force: true });
  const reporters = ['--reporter=dot', '--reporter=json', `--outputFile.json=${report}`];
  // Stop at the first failure, because one is enough. Limit the waiting time, because a mutant may make tests wait
  // forever.
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

function report(line: string): void {
  process.stdout.write(`${line}\n`);
}
