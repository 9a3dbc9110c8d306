import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it, onTestFinished, vi } from 'vitest';
import { z } from 'zod';
import type { OwnAttempts } from '../../src/bills/own-attempts.ts';
import type { BillLine } from '../../src/bills/read-lines.ts';
import { reconcileJobs } from '../../src/bills/reconcile-jobs.ts';
import type { OwnAttempt, ReportRow } from '../../src/bills/rows.ts';
import { createDiskSorter } from '../../src/bills/sort-on-disk.ts';

const day = Date.parse('2026-10-05T00:00:00Z');
const noon = day / 1000 + 43_200;

function line(job: string, amount: string, change: Partial<Exclude<BillLine, 'skipped'>> = {}): BillLine {
  return { job, unit: 'USD', amount, lines: 1, at: noon * 1000, spanMs: 0, ...change };
}

function own(job: string, amount: string | undefined, change: Partial<OwnAttempt> = {}): OwnAttempt {
  return {
    task: `task_${job}`,
    attempt: 1,
    adoptable: false,
    account: 'acme',
    model: 'clip',
    output: '720p/5',
    status: 'succeeded',
    channel: 'main',
    state: 'accepted',
    upstream_model: 'vendor/clip',
    job,
    stray_job: null,
    started_at: noon - 60,
    ended_at: noon,
    expected: amount === undefined ? [] : [{ by: 'upstream', amount, unit: 'USD' }],
    ...change,
  };
}

const lost = (task: string, change: Partial<OwnAttempt> = {}) =>
  own('', undefined, { task, job: null, state: 'lost', status: 'failed', ended_at: null, ...change });

interface Ours {
  readonly jobs?: readonly OwnAttempt[];
  readonly others?: readonly OwnAttempt[];
  readonly unclaimed?: readonly OwnAttempt[];
}

async function* each<Item>(items: readonly Item[]): AsyncGenerator<Item> {
  yield* items;
}

function ownOf({ jobs = [], others = [], unclaimed = [] }: Ours): OwnAttempts {
  return {
    costs: () => Promise.reject(new Error('the bill names jobs')),
    jobs: (channel) => each(jobs.filter((one) => one.channel === channel)),
    unclaimed: (channel) => each(unclaimed.filter((one) => one.channel === channel)),
    find: (channel, ids) =>
      Promise.resolve(
        [...jobs, ...others].filter((one) => one.channel === channel && ids.includes(one.job ?? '')),
      ),
  };
}

async function report(
  lines: readonly BillLine[],
  ours: Ours,
  change: { from?: number; to?: number; daysMax?: number } = {},
) {
  const rows: ReportRow[] = [];
  const done = await reconcileJobs({
    lines: each(lines),
    channels: ['main', 'second'],
    own: ownOf(ours),
    onRow: (row) => Promise.resolve(void rows.push(row)),
    ...change,
  });
  return { rows, done };
}

const shortly = ({ result, job, task, billed, expected, lines }: ReportRow) =>
  [result, job, task, billed, expected, lines].join(' ');

it('reports matches, jobs that only one side has, and differing amounts', async () => {
  const ours = {
    jobs: [
      own('a', '0.35'),
      own('b', '0.35'),
      own('c', undefined),
      own('d', '0.35'),
      own('e', undefined),
      own('second', '1', { channel: 'second' }),
    ],
    others: [own('moved', '0', { state: 'failed' })],
  };
  const lines = [
    line('second', '1'),
    line('nobodys', '0.35'),
    line('moved', '0.1'),
    line('c', '2'),
    line('b', '0.40'),
    line('a', '0.20'),
    line('a', '0.15'),
    line('', '0.5'),
    line('', '0.25'),
  ];
  const { rows, done } = await report(lines, ours);
  expect(rows.map(shortly)).toEqual([
    'matched a task_a 0.35 0.35 2',
    'amount_differs b task_b 0.40 0.35 1',
    'amount_unknown c task_c 2  1',
    'ours_only d task_d  0.35 0',
    'ours_only e task_e   0',
    'matched second task_second 1 1 1',
    'amount_differs moved task_moved 0.1 0 1',
    'upstream_only   0.75  2',
    'upstream_only nobodys  0.35  1',
  ]);
  expect(done).toEqual({
    period: { from: day / 1000, to: day / 1000 + 86_400 },
    lines: 9,
    skipped: 0,
    outside: 0,
    atTheEdge: 0,
    hasMoreUnclaimed: false,
  });
});

it('a job without a cost, failed, running or at the edge of the period, is not reported as missing', async () => {
  const jobs = [
    own('free', '0'),
    own('failed', undefined, { status: 'failed' }),
    own('running', undefined, { status: 'running', ended_at: null }),
    own('early', '1', { started_at: day / 1000 - 1 }),
    own('late', '1', { ended_at: day / 1000 + 86_400 }),
  ];
  const { rows, done } = await report([], { jobs }, { from: day / 1000, to: day / 1000 + 86_400 });
  expect(rows).toEqual([]);
  expect(done.atTheEdge).toBe(2);
  await expect(report([], { jobs })).rejects.toThrow('The bill has no lines');
});

it('lines outside the period, and those without an amount, are counted but not compared', async () => {
  const lines = [line('a', '1'), line('a', '1', { at: day - 1 }), 'skipped'] as const;
  const { rows, done } = await report(lines, { jobs: [own('a', '1')] }, { from: day / 1000 });
  expect(rows.map(shortly)).toEqual(['matched a task_a 1 1 1']);
  expect(done).toMatchObject({ lines: 3, skipped: 1, outside: 1 });
});

it('a job that no task has is proposed to the lost attempt that matches it', async () => {
  const ours = {
    jobs: [own('a', '0.35')],
    unclaimed: [
      lost('task_near'),
      lost('task_dear', { output: '1080p/5' }),
      lost('task_far', { started_at: 1 }),
    ],
  };
  const { rows } = await report([line('a', '0.35'), line('nobodys', '0.35'), line('a2', '9')], ours);
  const candidatesOf = (job: string) =>
    rows.find((row) => row.job === job)?.candidates.map(({ task, why }) => `${task}: ${why.join(' ')}`);
  expect(candidatesOf('nobodys')).toEqual([
    'task_near: The attempt began 60 s before the time in the bill. Other jobs of clip (720p/5) are billed 0.35 USD.',
    'task_dear: The attempt began 60 s before the time in the bill.',
  ]);
  expect(candidatesOf('a2')).toEqual(['task_dear: The attempt began 60 s before the time in the bill.']);
});

it('the order of the bill and of our records makes no difference', async () => {
  const job = fc.constantFrom('a', 'b', 'c', 'ab', 'a"', 'ä', '\u{1F600}', '\u2028', '', ' ');
  const lines = fc.array(
    fc.record({ job, amount: fc.constantFrom('1', '0.5', '-0.25'), unit: fc.constantFrom('USD', 'credits') }),
    { maxLength: 30 },
  );
  const ours = fc.uniqueArray(job, { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(lines, ours, fc.infiniteStream(fc.nat()), async (bill, jobs, numbers) => {
      const shuffled = <Item>(items: readonly Item[]): Item[] =>
        items
          .map((item) => ({ item, at: numbers.next().value }))
          .toSorted((a, b) => a.at - b.at)
          .map(({ item }) => item);
      const all = bill.map(({ unit, ...one }, n) => line(one.job, one.amount, { unit, at: noon * 1000 + n }));
      const mine = jobs.filter((one) => one !== '').map((one) => own(one, '1'));
      const unclaimed = [lost('task_1'), lost('task_2')];
      const period = { from: day / 1000, to: day / 1000 + 86_400 };
      const first = await report(all, { jobs: mine, unclaimed }, period);
      const second = await report(
        shuffled(all),
        { jobs: shuffled(mine), unclaimed: shuffled(unclaimed) },
        period,
      );
      expect(second).toEqual(first);
      const inBill = new Set(bill.map((one) => JSON.stringify([one.job, one.unit])));
      expect(first.rows.filter(({ lines: count }) => count > 0)).toHaveLength(inBill.size);
    }),
    { numRuns: 60 },
  );
});

it('sorts more than it keeps in memory, and leaves nothing behind', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'sort-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const item = z.object({ key: z.string() });
  const sorter = createDiskSorter({
    directory,
    name: 'x',
    schema: item,
    keyOf: ({ key }) => key,
    runMax: 10,
  });
  const keys = Array.from({ length: 95 }, (_, n) => `${(n * 37) % 95}\n\u2028"`);
  for (const key of keys) await sorter.add({ key });
  expect(readdirSync(directory)).toHaveLength(9);
  const found: string[] = [];
  for await (const { key } of sorter.sorted()) found.push(key);
  expect(found).toEqual(keys.toSorted());

  const temporary = join(directory, 'temporary');
  mkdirSync(temporary);
  vi.stubEnv('TMPDIR', temporary);
  onTestFinished(() => void vi.unstubAllEnvs());
  await report([line('a', '1')], {});
  expect(readdirSync(temporary)).toEqual([]);
});

it('refuses a bill with a mistyped year before it reads the records', async () => {
  const years = [line('a', '1'), line('b', '1', { at: day - 400 * 86_400_000 })];
  const jobs = () => {
    throw new Error('it read what is recorded');
  };
  const own = { ...ownOf({}), jobs };
  const asked = { lines: each(years), channels: ['main'], own, onRow: () => undefined };
  await expect(reconcileJobs(asked)).rejects.toThrow(
    'The bill covers 2025-08-31T00:00:00Z to 2026-10-06T00:00:00Z, which is more than 366 days.',
  );
  await expect(report(years, {}, { daysMax: 401 })).resolves.toMatchObject({ done: { lines: 2 } });
});

it.each([1_000, 1_001])('reports whether all of %i attempts without a job were considered', async (count) => {
  const unclaimed = Array.from({ length: count }, (_, n) => lost(`task_${n}`));
  const { done } = await report([line('nobodys', '0.35')], { unclaimed });
  expect(done.hasMoreUnclaimed).toBe(count > 1_000);
});
