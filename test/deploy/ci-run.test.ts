import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readRepositoryFile } from './compose-file.ts';

const text = readRepositoryFile('.ci/run');
const counting = /<<'COUNT'.*\n([^]*?)\nCOUNT\n/.exec(text)?.[1] ?? '';
let directory = '';

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'ci-run-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

type Outcome = {
  readonly newest?: string;
  readonly oldest?: string;
  readonly failedSteps?: readonly string[];
  readonly failedRuns?: readonly string[];
  readonly log?: string;
};

const good = JSON.stringify({ testResults: [file('passed', 'passed')] });

function printed({ newest, oldest, failedSteps = [], failedRuns = [], log = '' }: Outcome) {
  const work = mkdtempSync(join(directory, 'work-'));
  const contents = {
    'newest.json': newest,
    'oldest.json': oldest,
    'newest.log': log,
    'failed-steps': failedSteps.join('\n'),
    'failed-runs': failedRuns.join('\n'),
  };
  for (const [name, content] of Object.entries(contents)) {
    if (content !== undefined) writeFileSync(join(work, name), content);
  }
  return spawnSync(process.execPath, ['-', work, 'newest', 'oldest'], { input: counting, encoding: 'utf8' });
}

function count(outcome: Outcome) {
  const { stdout, status } = printed(outcome);
  return { line: lastLine(stdout), status };
}

function lastLine(output: string): string | undefined {
  return output.trimEnd().split('\n').at(-1);
}

function file(...states: readonly string[]) {
  const failed = states.includes('failed');
  return {
    status: failed ? 'failed' : 'passed',
    assertionResults: states.map((status) => ({ status })),
  };
}

function report(...testResults: readonly unknown[]): string {
  return JSON.stringify({ testResults });
}

describe('.ci/run', () => {
  it('runs the commands of the README in order', () => {
    const commands = [...text.matchAll(/^(?:tests newest )?(npm [a-z]+(?: [a-z]+)?)/gm)].map(([, command]) =>
      command?.trim(),
    );
    expect(commands).toEqual(['npm ci', 'npm run check', 'npm test']);
  });

  it('counts what passed, failed and was skipped in both runs', () => {
    const newest = report(file('passed', 'passed'), file('passed'));
    expect(count({ newest, oldest: good })).toEqual({ line: '5 passed, 0 failed', status: 0 });
    const oldest = report(file('passed', 'failed'), file('passed', 'pending', 'todo'));
    expect(count({ newest, oldest })).toEqual({ line: '5 passed, 1 failed, 2 skipped', status: 1 });
  });

  it('names each failed test with its reason, and each failed step', () => {
    const failed = { status: 'failed', fullName: 'a promise holds', failureMessages: ['it did not'] };
    const oldest = report(
      { name: 'a.test.ts', status: 'failed', assertionResults: [failed] },
      file('passed'),
    );
    const { stdout } = printed({ newest: good, oldest, failedSteps: ['npm run check', 'soak'] });
    expect(stdout).toBe(
      'failed: a.test.ts > a promise holds\nit did not\nfailed step: npm run check\nfailed step: soak\n' +
        '3 passed, 3 failed\n',
    );
  });

  it('counts a file that cannot be loaded, or whose hook failed, as a failure', () => {
    const unloaded = report(file('passed'), { status: 'failed', assertionResults: [] });
    expect(count({ newest: unloaded, oldest: good })).toEqual({ line: '3 passed, 1 failed', status: 1 });
    const hook = report({ status: 'failed', assertionResults: [{ status: 'passed' }] });
    expect(count({ newest: good, oldest: hook })).toEqual({ line: '3 passed, 1 failed', status: 1 });
  });

  it.each([
    ['is missing', undefined, '2 passed, 1 failed'],
    ['is empty', '', '2 passed, 1 failed'],
    ['has no tests', report(), '2 passed, 1 failed'],
    ['has only skipped tests', report(file('pending')), '2 passed, 1 failed, 1 skipped'],
  ])('fails if the report of a run %s', (_what, oldest, line) => {
    expect(count({ newest: good, ...(oldest === undefined ? {} : { oldest }) })).toEqual({ line, status: 1 });
  });

  it('counts a run that failed without a failed test, and repeats the last errors in its log', () => {
    const log = 'many tests\n⎯⎯ Unhandled Errors ⎯⎯\nError: read ECONNRESET\n';
    const { stdout, status } = printed({ newest: good, oldest: good, failedRuns: ['newest 1'], log });
    expect(status).toBe(1);
    expect(stdout).toBe(
      'failed outside of its tests, with code 1: the run on the newest Node\n' +
        '⎯⎯ Unhandled Errors ⎯⎯\nError: read ECONNRESET\n4 passed, 1 failed\n',
    );
  });

  it('counts a run with a failed test once', () => {
    const newest = report(file('passed', 'failed'));
    const outcome = { newest, oldest: good, failedRuns: ['newest 1'] };
    expect(count(outcome)).toEqual({ line: '3 passed, 1 failed', status: 1 });
  });
});

describe('.ci/run as a whole', () => {
  /**
   * Stands in for npm: records each command with its Node version, installs a `node` of the requested version, reports
   * two passed tests, and fails if FAILING matches.
   */
  const npm = `#!/usr/bin/env bash
echo "$(node --version) $*" >>"$COMMANDS"
for argument in "$@"; do
  case "$argument" in
    --outputFile.json=*) cat "$REPORT" >"\${argument#*=}" ;;
    node@*)
      mkdir -p "$3/node_modules/.bin"
      printf '#!/bin/sh\\necho v%s\\n' "\${argument#node@}" >"$3/node_modules/.bin/node"
      chmod +x "$3/node_modules/.bin/node" ;;
  esac
done
[[ ! "$(node --version) $*" =~ $FAILING ]]
`;
  let temporary = '';

  function run(failing: string) {
    const project = mkdtempSync(join(directory, 'project-'));
    temporary = join(project, 'tmp');
    for (const name of ['.ci', 'bin', 'tmp', '.mediary', '.mediary/bin']) mkdirSync(join(project, name));
    copyFileSync(join(import.meta.dirname, '../../.ci/run'), join(project, '.ci/run'));
    writeFileSync(join(project, 'bin/npm'), npm, { mode: 0o755 });
    writeFileSync(join(project, 'bin/chromium-headless-shell'), '', { mode: 0o755 });
    writeFileSync(join(project, 'report.json'), report(file('passed', 'passed')));
    const { stdout, status } = spawnSync('bash', [join(project, '.ci/run')], {
      encoding: 'utf8',
      env: {
        PATH: `${join(project, 'bin')}:${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`,
        TMPDIR: temporary,
        COMMANDS: join(project, 'commands'),
        REPORT: join(project, 'report.json'),
        FAILING: failing,
      },
    });
    const commands = readFileSync(join(project, 'commands'), 'utf8').trimEnd().split('\n');
    return { line: lastLine(stdout), status, commands };
  }

  it('runs on the newest version of Node, repeats on the oldest what may differ there, and leaves nothing behind', () => {
    const { line, status, commands } = run('nothing fails');
    expect({ line, status }).toEqual({ line: '4 passed, 0 failed', status: 0 });
    const namesOf = (version: string) =>
      commands
        .filter((command) => command.startsWith(`${version} `))
        .map((command) => /(?:run \S+|node@\S+| ci| test)/.exec(command)?.[0].trim());
    const oldest = namesOf(process.version);
    expect(new Set(oldest.slice(0, 2))).toEqual(new Set(['ci', 'node@24']));
    expect(oldest.slice(2)).toEqual(['run test:node']);
    const newest = namesOf('v24');
    expect(new Set(newest.slice(0, 2))).toEqual(new Set(['run check', 'test']));
    const others = [
      'run soak',
      'run schemathesis',
      'run check:document',
      'run check:compatible',
      'run acceptance',
      'run vendor-sdks',
    ];
    expect(newest.slice(2)).toHaveLength(others.length);
    expect(newest.slice(2)).toEqual(expect.arrayContaining(others));
    expect(readdirSync(temporary)).toEqual([]);
  });

  it.each([
    ['the check', '^v24 run check$', '4 passed, 1 failed'],
    ['the soak', 'run soak .*--seed 1', '4 passed, 1 failed'],
    ['schemathesis', 'run schemathesis', '4 passed, 1 failed'],
    ['the check of the document', 'run check:document', '4 passed, 1 failed'],
    ['the comparison with the last release', 'run check:compatible', '4 passed, 1 failed'],
    ['the clients', 'run acceptance', '4 passed, 1 failed'],
    ['the walks of the SDKs', 'run vendor-sdks', '4 passed, 1 failed'],
    ['the installation of the newest version', 'node@24', '4 passed, 1 failed'],
  ])('%s fails the run, and the rest still runs', (_name, failing, line) => {
    const { commands, ...result } = run(failing);
    expect(result).toEqual({ line, status: 1 });
    const rest = ['run vendor-sdks', 'run check:document', 'run schemathesis', 'run soak'];
    for (const step of rest) expect(commands.some((command) => command.includes(step))).toBe(true);
    expect(readdirSync(temporary)).toEqual([]);
  });

  it.each(['run test:node', '^v24 test '])(
    'vitest that fails without a failed test fails the run: %s',
    (failing) => {
      const { line, status } = run(failing);
      expect({ line, status }).toEqual({ line: '4 passed, 1 failed', status: 1 });
    },
  );
});
