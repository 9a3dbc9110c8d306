import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readRepositoryFile } from './compose-file.ts';

/** The counting part of .ci/run, fed with reports of vitest's JSON reporter. */
const text = readRepositoryFile('.ci/run');
const counting = /<<'COUNT'.*\n([^]*?)\nCOUNT\n/.exec(text)?.[1] ?? '';
let directory = '';

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'ci-run-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function count(report: string): { line: string | undefined; status: number | null } {
  const path = join(directory, 'report.json');
  writeFileSync(path, report);
  const { stdout, status } = spawnSync(process.execPath, ['-', path], { input: counting, encoding: 'utf8' });
  return { line: stdout.trimEnd().split('\n').at(-1), status };
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
    const commands = [...text.matchAll(/^(npm [a-z]+(?: [a-z]+)?)/gm)].map(([command]) => command.trim());
    expect(commands).toEqual(['npm ci', 'npm run check', 'npm test']);
  });

  it('counts what passed, failed and was skipped', () => {
    expect(count(report(file('passed', 'passed'), file('passed')))).toEqual({
      line: '3 passed, 0 failed',
      status: 0,
    });
    expect(count(report(file('passed', 'failed'), file('passed', 'pending', 'todo')))).toEqual({
      line: '2 passed, 1 failed, 2 skipped',
      status: 1,
    });
  });

  it('counts a file that cannot be loaded, or whose hook failed, as a failure', () => {
    expect(count(report(file('passed'), { status: 'failed', assertionResults: [] }))).toEqual({
      line: '1 passed, 1 failed',
      status: 1,
    });
    expect(count(report({ status: 'failed', assertionResults: [{ status: 'passed' }] }))).toEqual({
      line: '1 passed, 1 failed',
      status: 1,
    });
  });

  it('fails when no test ran', () => {
    expect(count(report())).toEqual({ line: '0 passed, 1 failed', status: 1 });
    expect(count('')).toEqual({ line: '0 passed, 1 failed', status: 1 });
    expect(count(report(file('pending')))).toEqual({ line: '0 passed, 0 failed, 1 skipped', status: 1 });
  });
});
