import { afterEach, expect, it } from 'vitest';
import { ledgerCollection } from '../../../src/ledger/collection.ts';
import { createLedger } from '../../../src/ledger/ledger.ts';
import { testLedgerKey } from '../../support/sealing.ts';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_get_usage');
afterEach(() => (world.clock.stoppedAt = undefined));

const usage = '/v1/usage?from=2026-10-01&to=2026-11-02';

async function someTasks() {
  world.clock.stoppedAt = Date.parse('2026-10-31T23:00:00Z');
  const account = await world.newAccount({ credit: '10' });
  const make = async (user?: string) =>
    (await account.create(user === undefined ? {} : { metadata: { safety_identifier: user } })).body.id;
  const [paid, cancelled] = [await make('=anna'), await make('ben')];
  world.clock.stoppedAt = Date.parse('2026-11-01T01:00:00Z');
  await make();
  await account.call('POST', `/v1/videos/generations/${cancelled}/cancel`);
  const collection = ledgerCollection(world.db);
  const ledger = createLedger({ collection, key: testLedgerKey, now: world.deps.now });
  await ledger.settle({ account: account.id, task: paid, held: 500_000n, amount: 700_000n });
  await ledger.refund({ account: account.id, task: paid, amount: 100_000n });
  return account;
}

const none = { settled: 0, released: 0, open: 0, charged: '0.000000', refunded: '0.000000' };

it('by day: everything about a task is counted on the day of its hold', async () => {
  const account = await someTasks();
  const { body, headers } = await account.call('GET', usage);
  expect(headers['content-type']).toBe('application/json; charset=utf-8');
  const ended = { settled: 1, released: 1, open: 0, charged: '0.700000', refunded: '0.100000' };
  expect(body).toEqual({
    object: 'usage',
    currency: 'USD',
    from: '2026-10-01',
    to: '2026-11-02',
    data: [
      { day: '2026-10-31', tasks: 2, ...ended },
      { day: '2026-11-01', tasks: 1, ...none, open: 1 },
    ],
  });
  await account.create();
  expect((await account.call('GET', usage)).body.data[1]).toMatchObject({ tasks: 2, open: 2 });
});

it('by model, key and end user, over all days; in CSV no name is a formula', async () => {
  const account = await someTasks();
  const grouped = `${usage}&by=end_user,model,key`;
  const { body } = await account.call('GET', grouped);
  const of = { model: 'clip', key: account.keyId };
  expect(body.data).toEqual([
    { ...of, end_user: null, tasks: 1, ...none, open: 1 },
    { ...of, end_user: '=anna', tasks: 1, ...none, settled: 1, charged: '0.700000', refunded: '0.100000' },
    { ...of, end_user: 'ben', tasks: 1, ...none, released: 1 },
  ]);
  const { text, headers } = await account.call('GET', `${grouped}&format=csv`);
  expect(headers['content-type']).toBe('text/csv; charset=utf-8');
  expect(text.split('\r\n')).toEqual([
    'model,key,end_user,tasks,settled,released,open,charged,refunded',
    `clip,${account.keyId},,1,0,0,1,0.000000,0.000000`,
    `clip,${account.keyId},'=anna,1,1,0,0,0.700000,0.100000`,
    `clip,${account.keyId},ben,1,0,1,0,0.000000,0.000000`,
    '',
  ]);
});

it('ungrouped: one row; none for an account without tasks', async () => {
  const account = await someTasks();
  const { body } = await account.call('GET', `${usage}&by=`);
  expect(body.data).toEqual([
    { tasks: 3, settled: 1, released: 1, open: 1, charged: '0.700000', refunded: '0.100000' },
  ]);
  const other = await world.newAccount();
  expect((await other.call('GET', `${usage}&by=`)).body.data).toEqual([]);
});

it('without a period: this month until now', async () => {
  const account = await world.newAccount();
  world.clock.stoppedAt = Date.parse('2026-12-31T23:59:00Z');
  await account.create();
  const { body } = await account.call('GET', '/v1/usage');
  expect(body).toMatchObject({
    from: '2026-12-01',
    to: '2027-01-01',
    data: [{ day: '2026-12-31', tasks: 1 }],
  });
});

it.each([
  ['from=2026-11', 'from'],
  ['from=2026-02-30', 'from'],
  ['from=1999-01-01', 'from'],
  ['to=2026-1-1', 'to'],
  ['from=2026-11-02&to=2026-11-02', 'to'],
  ['from=2026-11-03&to=2026-11-02', 'to'],
  ['from=2025-01-01&to=2026-01-03', 'to'],
  ['by=account', 'by'],
  ['by=day,day', 'by'],
  ['by=day,', 'by'],
  ['by=__proto__', 'by'],
  ['format=xml', 'format'],
])('400: %s', async (query, param) => {
  const { call } = await world.newAccount();
  const answer = await call('GET', `/v1/usage?${query}`);
  expect([answer.status, answer.body.error.param]).toEqual([400, param]);
});

it('429: one report of an account at a time; the next one when it is over, however it ended', async () => {
  const account = await someTasks();
  const { ledger } = world.deps;
  let go = (): void => undefined;
  const gone = new Promise<void>((resolve) => (go = resolve));
  let [reads, failing] = [0, false];
  const node = await world.startNode({
    ledger: {
      ...ledger,
      async *usage(asked) {
        reads += 1;
        await gone;
        if (failing) throw new Error('away');
        yield* ledger.usage(asked);
      },
    },
  });
  const ask = () => node.call('GET', usage, { key: account.key });
  const first = ask();
  await expect.poll(() => reads).toBe(1);
  const second = await ask();
  expect([second.status, second.body.error.code]).toEqual([429, 'concurrency_limit_exceeded']);
  go();
  expect((await first).status).toBe(200);
  failing = true;
  expect((await ask()).status).toBe(500);
  failing = false;
  expect((await ask()).status).toBe(200);
});
