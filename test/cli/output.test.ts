import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import fc from 'fast-check';
import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import type { Row } from '../../src/cli/admin-client.ts';
import { createOutput, type OutputForm, type Table } from '../../src/cli/output.ts';
import { cutToWidth, formatAge, formatTable } from '../../src/cli/table.ts';
import { taskTable } from '../../src/cli/tasks.ts';

const now = Date.UTC(2026, 10, 23, 12);
const unheard = () => undefined;

function printed(form: OutputForm, rows: readonly Row[], table: Table, isColoured = false): string {
  const texts: string[] = [];
  createOutput({ form, write: (text) => void texts.push(text), warn: unheard, isColoured, now }).rows(
    rows,
    table,
  );
  return texts.join('\n');
}

const task = {
  id: `task_${'x'.repeat(24)}`,
  account: 'studio',
  model: 'clip',
  status: 'pending',
  channel: 'one',
  created_at: now / 1000 - 200,
  hold: '0.500000',
  situation: { waits_for: 'submit_ambiguous', since: now / 1000 - 200, what: 'The response was lost.' },
};

describe('a table', () => {
  it('aligns text left, numbers right', () => {
    const rows = [
      { name: 'a', amount: '10.000000', list: ['x', 'y'], empty: null },
      { name: 'longer', amount: '-2.500000', list: [], empty: '', object: { a: 1 } },
    ];
    expect(formatTable(rows, ['name', 'amount', 'list', 'object'])).toBe(
      [
        'NAME       AMOUNT  LIST  OBJECT',
        'a       10.000000  x, y  -',
        'longer  -2.500000  -     {"a":1}',
      ].join('\n'),
    );
  });

  it('counts Chinese and emoji as two columns, and combining marks as none', () => {
    const rows = [
      { name: '广告短片', n: 1 },
      { name: '🚀 launch', n: 22 },
      { name: 'e\u0301clair', n: 333 },
    ];
    const lines = formatTable(rows, ['name', 'n']).split('\n');
    expect(lines.map((line) => stringWidth(line))).toEqual([14, 14, 14, 14]);
  });

  it('shows what tasks wait for, and their age', () => {
    const over = { ...task, status: 'failed', situation: { ...task.situation, waits_for: null } };
    const text = printed('table', [task, over], taskTable);
    expect(text.split('\n').map((line) => line.split(/ {2,}/))).toEqual([
      ['ID', 'ACCOUNT', 'MODEL', 'STATUS', 'WAITS_FOR', 'CHANNEL', 'SINCE'],
      [task.id, 'studio', 'clip', 'pending', 'submit_ambiguous', 'one', '3m'],
      [task.id, 'studio', 'clip', 'failed', '-', 'one', '3m'],
    ]);
  });

  it('fits in 100 columns, whatever it shows, and keeps the most important ones', () => {
    const crowded = {
      ...task,
      account: '株式会社'.repeat(10),
      model: '🎬'.repeat(30),
      channel: 'simulated-dashscope-in-a-region-far-away',
    };
    const [header = '', line = ''] = printed('table', [crowded], taskTable).split('\n');
    expect(stringWidth(line)).toBeLessThanOrEqual(100);
    expect(stringWidth(header)).toBeLessThanOrEqual(100);
    for (const whole of [task.id, 'pending', 'submit_ambiguous', '3m']) expect(line).toContain(whole);
    expect(line).toMatch(/株…|株式…|株式会.*…/);
  });

  it('escapes control characters, within its width', () => {
    const text = fc.string({ unit: 'binary', maxLength: 80 });
    fc.assert(
      fc.property(text, text, text, (account, model, channel) => {
        const table = printed('table', [{ ...task, account, model, channel }, task], taskTable);
        expect(table.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u);
        const lines = table.split('\n');
        expect(lines).toHaveLength(3);
        for (const line of lines) expect(stringWidth(line)).toBeLessThanOrEqual(100);
      }),
    );
  });

  it('with `wide`, cuts nothing and shows exact times', () => {
    const long = 'a channel '.repeat(20).trim();
    const [header = '', line = ''] = printed('wide', [{ ...task, channel: long }], taskTable).split('\n');
    expect(header).toMatch(/CHANNEL +SINCE +HOLD +CHARGE .* WHAT$/);
    expect(line).toContain(long);
    expect(line).toMatch(/2026-11-23T11:56:40Z +0\.500000 .* The response was lost\.$/);
  });

  it('is coloured without changing its alignment', () => {
    const plain = printed('table', [task, { ...task, status: 'failed' }], taskTable);
    const coloured = printed('table', [task, { ...task, status: 'failed' }], taskTable, true);
    expect(coloured).toContain('\u001B[31mfailed ');
    expect(coloured).toContain('\u001B[1mID');
    // oxlint-disable-next-line no-control-regex
    expect(coloured.replaceAll(/\u001B\[\d+m/g, '').replaceAll(/ +$/gm, '')).toBe(plain);
  });
});

describe('a table within an item', () => {
  const item = (form: OutputForm, value: Row): string => {
    const texts: string[] = [];
    createOutput({
      form,
      write: (text) => void texts.push(text),
      warn: unheard,
      isColoured: false,
      now,
    }).item(value);
    return texts.join('\n');
  };
  const attempt = {
    n: 1,
    channel: 'simulated-dashscope',
    credential: 'main-account',
    state: 'lost',
    marker: 'm-0123456789abcdef0123456789abcdef',
    upstream_id: 'cgt-20261123-abcdefghijklmnopqrstuvwxyz',
    error: 'The upstream closed the connection after the request was sent.',
    at: now / 1000,
    ended_at: now / 1000 + 61,
    cost: null,
  };
  const entry = {
    object: 'ledger_entry',
    id: 'studio/1042',
    account: 'studio',
    seq: 1042,
    kind: 'settle',
    task: `task_${'y'.repeat(24)}`,
    key: `task_${'y'.repeat(24)}:settle`,
    amount: '0.762300',
    available: '99.237700',
    held: '0.000000',
    note: null,
    at: now / 1000,
    hash: 'f'.repeat(64),
    prev_hash: 'e'.repeat(64),
  };
  const widest = (text: string) => Math.max(...text.split('\n').map((line) => stringWidth(line)));

  it('fits in 100 columns, including its indentation, and `wide` shows what is cut', () => {
    const { n, channel, state, error, cost } = attempt;
    const few = { n, channel, state, error, cost, note: 'a text that is long, too' };
    const text = item('table', { id: 'x', attempts: [few, { ...few, n: 2 }] });
    expect(widest(text)).toBeLessThanOrEqual(100);
    expect(text).toMatch(/^attempts\n {2}N {2}CHANNEL/m);
    expect(text).not.toContain('COST');
    expect(text).toContain('…');
    expect(item('wide', { attempts: [few] })).toContain(few.error);
  });

  it('with too many columns becomes an item per row, and nothing of it is cut', () => {
    const text = item('table', { id: 'x', task: { entries: [entry, { ...entry, seq: 1043 }] } });
    expect(widest(text)).toBeLessThanOrEqual(100);
    expect(text).not.toContain('…');
    expect(text).toMatch(/^ {4}seq {8}1042$[^]*^$[^]*^ {4}seq {8}1043$/m);
    for (const whole of [entry.key, entry.hash]) expect(text).toContain(whole);
    const attempts = item('table', { attempts: [attempt] });
    expect(widest(attempts)).toBeLessThanOrEqual(100);
    expect(attempts).toContain(attempt.upstream_id);
  });
});

describe('JSON', () => {
  it('is the gateway’s response: one list, or one object per line', () => {
    const rows = [task, { ...task, account: 'x\u202Ey' }];
    expect(JSON.parse(printed('json', rows, taskTable))).toEqual(rows);
    const lines = printed('jsonl', rows, taskTable).split('\n');
    expect(lines.map((line) => JSON.parse(line))).toEqual(rows);
    expect(lines[1]).toContain('x\\u202ey');
  });
});

it('a text is cut between characters, and never in the middle of one', () => {
  expect(cutToWidth('日本語', 6)).toBe('日本語');
  expect(cutToWidth('日本語', 5)).toBe('日本…');
  expect(cutToWidth('日本語', 4)).toBe('日…');
  expect(cutToWidth('e\u0301e\u0301e\u0301', 2)).toBe('e\u0301…');
});

it.each([
  [0, '0s'],
  [119, '119s'],
  [120, '2m'],
  [7199, '119m'],
  [7200, '2h'],
  [172_799, '47h'],
  [172_800, '2d'],
  [3 * 365 * 86_400, '3y'],
  [-90, 'in 90s'],
  [-7200, 'in 2h'],
])('%d s ago is %s', (seconds, text) => {
  expect(formatAge(seconds)).toBe(text);
});

describe('colours', () => {
  const project = fileURLToPath(new URL('../..', import.meta.url));
  const run = (file: string, line: readonly string[], environment: Record<string, string>) =>
    promisify(execFile)(file, line, {
      cwd: project,
      env: { PATH: process.env['PATH'], TERM: 'xterm-256color', ...environment },
    });
  const script = '/usr/bin/script';
  const onTerminal = (environment: Record<string, string>) =>
    run(script, ['-qec', `${process.execPath} src/gateway.js vendors show`, '/dev/null'], environment);

  it.skipIf(!existsSync(script))('are used on a terminal, unless NO_COLOR is set', async () => {
    expect((await onTerminal({})).stdout).toContain('\u001B[1mVENDOR');
    expect((await onTerminal({ NO_COLOR: '1' })).stdout).not.toContain('\u001B');
  });
});
