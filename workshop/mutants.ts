import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { rawEnvironment } from '../src/config/environment.ts';
import { mutants } from './mutants/index.ts';
import { mutate } from './mutants/mutate.ts';
import type { Mutant } from './mutants/mutant.ts';
import { portion } from './mutants/portion.ts';
import { runTests } from './mutants/run-tests.ts';
import type { Verdict } from './mutants/run-tests.ts';

/**
 * `npm run mutants [-- --only NAME] [-- --part 2/6]`: takes the promises out of the code one by one, each in a copy of
 * the working tree, and runs the tests that must notice. Not part of CI: it takes about forty minutes. `--only` names a
 * mutant, or the beginning of several; `--part` runs one of several portions of those, so that they fit between other
 * work.
 */

const root = fileURLToPath(new URL('..', import.meta.url));
const { values } = parseArgs({
  options: { only: { type: 'string', default: '' }, part: { type: 'string', default: '1/1' } },
});
const chosen = portion(
  mutants.filter(({ name }) => name.startsWith(values.only)),
  values.part,
);
if (chosen.length === 0) throw new Error(`no mutant is named ${values.only} in part ${values.part}`);
const cacheDir = rawEnvironment()['MEDIARY_CACHE_DIR'] ?? join(root, '.mediary');
const copy = mkdtempSync(join(tmpdir(), 'mediary-mutants-'));
try {
  copyTree();
  await passUnchanged();
  const survivors = await applyAll();
  report(`${chosen.length - survivors.length} of ${chosen.length} mutants were killed`);
  if (survivors.length > 0) process.exitCode = 1;
} finally {
  rmSync(copy, { recursive: true, force: true });
}

/** What git knows, as it is in the working tree, with the same packages. */
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

/** A test that fails without a mutation proves nothing about one. */
async function passUnchanged(): Promise<void> {
  const files = [...new Set(chosen.flatMap(({ tests }) => tests))];
  const { verdict, output } = await runTests(copy, files, cacheDir);
  if (verdict !== 'passed') throw new Error(`without a mutation the tests do not pass:\n${output}`);
}

async function applyAll(): Promise<string[]> {
  const survivors: string[] = [];
  for (const mutant of chosen) {
    const verdict = await apply(mutant);
    if (isKilled(verdict)) {
      report(`killed    ${mutant.name}${verdict === 'timeout' ? ' (a test did not end)' : ''}`);
    } else {
      survivors.push(mutant.name);
      report(`${verdict === 'broken' ? 'BROKEN  ' : 'SURVIVED'}  ${mutant.name}: ${mutant.breaks}`);
    }
  }
  return survivors;
}

async function apply(mutant: Mutant): Promise<Verdict> {
  const path = join(copy, mutant.file);
  const original = readFileSync(path, 'utf8');
  writeFileSync(path, mutate(original, mutant));
  try {
    return (await runTests(copy, mutant.tests, cacheDir)).verdict;
  } finally {
    writeFileSync(path, original);
  }
}

function isKilled(verdict: Verdict): boolean {
  return verdict === 'failed' || verdict === 'timeout';
}

function report(line: string): void {
  process.stdout.write(`${line}\n`);
}
