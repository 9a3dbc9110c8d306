import { request } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { adminToken, useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_compare_bill');

const columns = { job: 'id', amount: 'cost', time: 'time' };
const compare = (body: object) =>
  world.admin('POST', '/bills/compare', { channel: 'one', columns, unit: 'USD', ...body });

async function someTasks() {
  world.clock.stoppedAt = Date.parse('2026-03-02T12:00:00Z');
  const account = await world.newAccount();
  const create = async () => String((await account.create()).body.id);
  const [done, lost] = [await create(), await create()];
  await world.drive.accept(done, 'job-ours');
  const items = [{ url: 'https://x.test/v.mp4' }];
  await world.drive.succeed(done, {
    kind: 'succeeded',
    items,
    facts: {},
    cost: { amount: '0.5', unit: 'USD' },
  });
  await world.drive.ask(lost);
  return { done, lost };
}

it('reports differences, entries that only one side has, and possible tasks for a job without one', async () => {
  const { done, lost } = await someTasks();
  const at = '2026-03-02T12:00:05Z';
  const bill = (lines: readonly string[]) => `id,cost,time\n${lines.join('\n')}\n`;
  const { body } = await compare({ bill: bill([`job-ours,0.7,${at}`, `job-theirs,0.7,${at}`]) });
  expect(body).toMatchObject({ by: 'job', in_order: false, has_more: false, has_more_unclaimed: false });
  expect(body.rows).toMatchObject([
    {
      result: 'amount_differs',
      job: 'job-ours',
      task: done,
      billed: '0.7',
      expected: '0.5',
      difference: '0.2',
    },
    { result: 'upstream_only', job: 'job-theirs', task: null, candidates: [{ task: lost, attempt: 1 }] },
  ]);
  expect(body.totals.map((one: { result: string; rows: number }) => [one.result, one.rows])).toEqual([
    ['amount_differs', 1],
    ['upstream_only', 1],
  ]);
  const missing = await compare({ bill: bill([`other,0.1,${at}`]) });
  expect(missing.body.rows).toContainEqual(
    expect.objectContaining({ result: 'ours_only', job: 'job-ours', expected: '0.5' }),
  );
  expect((await compare({ bill: bill([`job-ours,0.50,${at}`]) })).body).toMatchObject({
    in_order: true,
    rows: [],
  });
});

it('reports whether too many attempts without a job were found to consider all of them', async () => {
  world.clock.stoppedAt = Date.parse('2026-03-02T12:00:00Z');
  await world.drive.ask((await (await world.newAccount()).create()).body.id);
  const { tasks } = world.deps;
  const node = await world.startNode({
    tasks: {
      ...tasks,
      async listUnclaimed(span) {
        const { tasks: found } = await tasks.listUnclaimed(span);
        return { tasks: Array.from({ length: 2_000 }, () => found).flat(), next: 'more' };
      },
    },
  });
  const bill = 'id,cost,time\njob-theirs,0.7,2026-03-02T12:00:05Z\n';
  const asked = { channel: 'one', columns, unit: 'USD', bill };
  expect((await node.admin('POST', '/bills/compare', asked)).body).toMatchObject({
    has_more_unclaimed: true,
  });
});

it('rejects an invalid bill, and shows where it is wrong', async () => {
  const refused = async (body: object) => (await compare(body)).body.error;
  expect(await refused({ bill: 'id,cost,time\na,much,2026-03-02\n' })).toMatchObject({
    code: 'invalid_parameter',
    message: 'The bill, line 2: cost is "much", not a number such as 0.35.',
  });
  expect(await refused({ bill: 'x\n1\n', columns: { job: 'x' } })).toMatchObject({ param: 'columns' });
  for (const asked of [columns, { amount: 'cost', time: 'time' }])
    expect(
      await refused({ bill: 'id,cost,time\na,1,2025-03-02\na,1,2026-03-02\n', columns: asked }),
    ).toMatchObject({ param: 'bill', message: expect.stringContaining('more than 62 days') });
  expect(await refused({ bill: '' })).toMatchObject({ code: 'invalid_parameter' });
  expect(await refused({ bill: 'id,cost,time', from: 5, before: 5 })).toMatchObject({ param: 'before' });
  expect(await refused({ bill: 'x', channel: 'none' })).toMatchObject({ code: 'channel_not_found' });
});

it('reads nothing more for a caller that has disconnected', async () => {
  const { tasks } = world.deps;
  let pages = 0;
  const node = await world.startNode({
    tasks: {
      ...tasks,
      async listBilled() {
        pages += 1;
        await setImmediate();
        return { tasks: [], next: 'more' };
      },
    },
  });
  const asked = { channel: 'one', columns, unit: 'USD', bill: 'id,cost,time\na,1,2026-03-02\n' };
  const byDay = { ...asked, columns: { amount: 'cost', time: 'time' } };
  const another = async () => (await node.admin('POST', '/bills/compare', byDay)).status;
  const call = request(`${node.url}/admin/v1/bills/compare`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
  });
  call.on('error', () => undefined);
  call.end(JSON.stringify(asked));
  await expect.poll(() => pages).toBeGreaterThan(2);
  expect(await another()).toBe(429);
  call.destroy();
  await expect.poll(another).toBe(200);
});
