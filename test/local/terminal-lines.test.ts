import { appendFile, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { followFile, terminalLine } from '../../src/local/terminal-lines.ts';
import { waitUntil } from '../support/processes.ts';

const record = (facts: object) =>
  JSON.stringify({ level: 'info', time: '2030-01-01T10:00:00.000Z', ...facts });

describe('a line on the terminal', () => {
  it('is shown for each request', () => {
    const line = terminalLine(
      record({ msg: 'request', method: 'POST', operation: 'createVideo', status: 200, duration_ms: 12 }),
    );
    expect(line).toMatch(/^\d\d:\d\d:\d\d {2}POST createVideo {2}200 {2}12 ms$/);
  });

  it('is shown for each task that has ended, with its charge', () => {
    const ended = { msg: 'a task has ended', task: 'task_1', status: 'succeeded', amount: '762300' };
    expect(terminalLine(record(ended))).toMatch(/ {2}task_1 {2}succeeded, charged 0\.762300$/);
  });

  it('is shown for errors, without their stack', () => {
    const failed = { level: 'error', msg: 'a request failed', operation: 'getVideo', err: { stack: 'at x' } };
    expect(terminalLine(record(failed))).toMatch(/ {2}ERROR {2}a request failed {2}getVideo$/);
  });

  it('is not shown for an upstream’s callback, unless it failed', () => {
    const called = { msg: 'request', method: 'POST', operation: 'receiveUpstreamCallback', duration_ms: 2 };
    expect(terminalLine(record({ ...called, status: 200 }))).toBeUndefined();
    expect(terminalLine(record({ ...called, status: 404 }))).toMatch(/receiveUpstreamCallback {2}404/);
  });

  it('is not shown for anything else', () => {
    expect(terminalLine(record({ msg: 'started' }))).toBeUndefined();
    expect(terminalLine(record({ level: 'warn', msg: 'x', operation: 'readyz' }))).toBeUndefined();
    expect(terminalLine('not JSON')).toBeUndefined();
  });
});

describe('following a log', () => {
  it('returns only whole, new lines, even after the file was replaced', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'mediary-follow-'));
    const file = join(directory, 'api.log');
    await writeFile(file, 'old\n');
    const lines: string[] = [];
    const follow = await followFile(file, (line) => lines.push(line));
    await appendFile(file, 'one\ntw');
    await waitUntil('the first line', () => Promise.resolve(lines.length === 1));
    await appendFile(file, 'o\n');
    await waitUntil('the second line', () => Promise.resolve(lines.length === 2));
    await rename(file, `${file}.1`);
    await writeFile(file, 'new\n');
    await waitUntil('a line of the new file', () => Promise.resolve(lines.length === 3));
    await follow.stop();
    expect(lines).toEqual(['one', 'two', 'new']);
    await rm(directory, { recursive: true });
  });
});
