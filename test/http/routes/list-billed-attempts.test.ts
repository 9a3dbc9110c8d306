import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { runLine } from '../../cli/support.ts';
import type { TestAccount } from '../../support/client.ts';
import { useHttpWorld } from '../../support/http-world.ts';
import { firstCandidate, succeededWith } from '../../support/task-records.ts';

const world = useHttpWorld('route_list_billed_attempts');
const now = () => Math.floor(Date.now() / 1000);

let account: TestAccount;
beforeAll(async () => {
  account = await world.newAccount();
});

const cost = { amount: '0.350', unit: 'USD' } as const;

async function create(): Promise<string> {
  return (await account.create()).body.id;
}

async function succeeded(job: string, more: object = { cost }): Promise<string> {
  const id = await create();
  await world.drive.accept(id, job);
  await world.drive.succeed(id, { ...succeededWith('https://x.example/1'), ...more });
  return id;
}

async function list(query: Record<string, string> = {}) {
  const span = { channel: firstCandidate.channel, from: `${now() - 3600}`, before: `${now() + 3600}` };
  const path = `/billed-attempts?${new URLSearchParams({ ...span, ...query }).toString()}`;
  return world.admin('GET', path);
}

const shown = (rows: readonly Record<'task' | 'job', string>[]) =>
  rows.map(({ task, job }) => `${task} ${job}`);

it('jobs of a channel, newest first, with what the upstream should bill; page by page', async () => {
  const first = await succeeded('job-1');
  const running = await create();
  await world.drive.accept(running, 'job-2');
  await create();
  const { body } = await list();
  expect(shown(body.data)).toEqual([`${running} job-2`, `${first} job-1`]);
  expect(body.data[1]).toEqual({
    task: first,
    attempt: 1,
    adoptable: false,
    account: account.id,
    model: 'clip',
    output: expect.any(String),
    status: 'succeeded',
    channel: 'one',
    state: 'accepted',
    upstream_model: 'u',
    job: 'job-1',
    stray_job: null,
    started_at: expect.closeTo(now(), -2),
    ended_at: expect.closeTo(now(), -2),
    expected: [{ by: 'upstream', ...cost }],
  });
  expect(body.data[0]).toMatchObject({ ended_at: null, expected: [] });

  const page = (await list({ limit: '1' })).body;
  expect(page).toMatchObject({ has_more: true, data: [{ job: 'job-2' }] });
  const rest = (await list({ limit: '1', page: page.next_page })).body;
  expect(rest).toMatchObject({ has_more: false, data: [{ job: 'job-1' }] });
  expect((await list({ before: `${now() - 3000}` })).body.data).toEqual([]);
  expect((await list({ channel: 'two' })).body.data).toEqual([]);
});

it('attempts of which it is not known whether there is a job, until they are found', async () => {
  const found = await create();
  await world.drive.ask(found);
  const abandoned = await create();
  const n = await world.drive.lose(abandoned);
  await world.drive.step(abandoned, { kind: 'asked' });
  await world.drive.fail(abandoned, { code: 'internal_error', message: 'gone' });
  expect(n).toBe(1);
  const unclaimed = async () => (await list({ unclaimed: 'true' })).body.data;
  expect(await unclaimed()).toMatchObject([
    { task: abandoned, state: 'abandoned', job: null, expected: [] },
    { task: found, state: 'lost', job: null },
  ]);
  await world.drive.step(found, { kind: 'adopted', operation: { id: 'job-found' } });
  expect(shown(await unclaimed())).toEqual([`${abandoned} null`]);
});

it('refuses a channel that is not there, and pages without limits', async () => {
  expect((await list({ channel: 'none' })).status).toBe(404);
  expect((await list({ limit: '1001' })).status).toBe(400);
  expect((await world.admin('GET', '/billed-attempts?channel=one')).status).toBe(400);
});

it('gateway reconcile: the report in each form, the same each time, and no money moves', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'reconcile-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const [matched, differs, unknown, missing] = [
    await succeeded('=cmd|job'),
    await succeeded('b'),
    await succeeded('c', {}),
    await succeeded('d'),
  ];
  const bill = join(directory, 'bill.csv');
  const at = new Date().toISOString();
  const row = (job: string, amount: string) => `${job},${amount},${at}`;
  const lines = [
    row('nobodys', '0.35'),
    row('c', '1'),
    row('b', '0.1'),
    row('b', '0.2'),
    row('=cmd|job', '0.35'),
  ];
  writeFileSync(bill, ['id,cost,time', ...lines].join('\n'));

  const ledger = () => world.db.collection('ledger').find().sort({ _id: 1 }).toArray();
  const before = await ledger();
  const hoursFromNow = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();
  const span = ['--from', hoursFromNow(-1), '--to', hoursFromNow(24)];
  const columns = ['--column', 'job=id', '--column', 'amount=cost', '--column', 'at=time', '--unit', 'USD'];
  const format = ['--format', 'mapped', '--channel', 'one', ...columns, ...span];
  const line = (...more: string[]) => runLine(world, ['reconcile', '--bill', bill, ...format, ...more]);
  const csv = join(directory, 'report.csv');
  const { text, status } = await line('-o', 'jsonl', '--csv', csv);
  expect(status).toBe(1);
  const rows = text.split('\n').map((one) => JSON.parse(one));
  const others = ['job-1', 'job-found'];
  expect(
    rows
      .slice(0, -1)
      .flatMap(({ result, job, task, difference, candidates }) =>
        others.includes(job) ? [] : [[result, job, task, difference, candidates.length]],
      ),
  ).toEqual([
    ['matched', '=cmd|job', matched, '0', 0],
    ['amount_differs', 'b', differs, '-0.05', 0],
    ['amount_unknown', 'c', unknown, null, 0],
    ['ours_only', 'd', missing, null, 0],
    ['upstream_only', 'nobodys', null, null, 1],
  ]);
  expect(rows.at(-1)).toMatchObject({ lines: 5, in_order: false, totals: expect.any(Array) });
  const written = readFileSync(csv, 'utf8');
  expect(written).toMatch(/^result,job,channel,task,attempt,.*\r\n/);
  expect(written).toContain(`matched,'=cmd|job,one,${matched},1,${account.id},clip,`);
  expect(written).toMatch(/,USD,0\.3,0\.35,-0\.05,2,,,\r\n/);

  writeFileSync(bill, ['id,cost,time', ...lines.toReversed()].join('\n'));
  expect((await line('-o', 'jsonl', '--csv', csv)).text).toBe(text);
  expect(readFileSync(csv, 'utf8')).toBe(written);
  const table = (await line()).text;
  expect(table).toMatch(/^RESULT +JOB +TASK +UNIT +BILLED +EXPECTED +DIFFERENCE\n/);
  expect(table).toMatch(
    /nobodys may belong to task_\w+ \(attempt 1, abandoned\): The attempt began \d+ s before/,
  );
  expect(table).toContain('5 lines; 0 without an amount');
  expect(JSON.parse((await line('-o', 'json')).text)).toMatchObject({ in_order: false, has_more: false });
  expect(await ledger()).toEqual(before);

  await expect(line('--format', 'none')).rejects.toThrow('There is no format none. The formats are');
  await expect(line('--column', 'at=when')).rejects.toThrow('line 1: there is no column when (at)');
  await expect(line('--channel', 'none')).rejects.toMatchObject({ status: 4 });
});
