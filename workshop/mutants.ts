import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { rawEnvironment } from '../src/config/environment.ts';
import { mutate, readMutants } from './mutants/corpus.ts';
import type { Mutant } from './mutants/corpus.ts';
import { runTests } from './mutants/run-tests.ts';
import type { Verdict } from './mutants/run-tests.ts';

/**
 * `npm run mutants [-- --only TEXT]`: removes promises from the code one by one, each in a copy of the working tree,
 * and runs the tests that must notice. Not part of CI, because it takes about forty minutes. `--only` selects mutants
 * whose file or broken promise contains the text.
 */

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

/** A test that fails without the mutation as well proves nothing. */
function passUnchanged(): void {
  const files = [...new Set(chosen.flatMap(({ tests }) => tests))];
  const { verdict, output } = runTests(copy, files, cacheDir);
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
    return runTests(copy, mutant.tests, cacheDir).verdict;
  } finally {
    writeFileSync(path, original);
  }
}

function report(line: string): void {
  process.stdout.write(`${line}\n`);
}
