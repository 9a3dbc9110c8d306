import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createLedger } from '../../../src/ledger/ledger.ts';
import { ledgerCollection } from '../../../src/ledger/collection.ts';
import { runLine } from '../../cli/support.ts';
import { useHttpWorld } from '../../support/http-world.ts';
import { testLedgerKey } from '../../support/sealing.ts';

const world = useHttpWorld('route_get_margin');

async function end(
  day: string,
  task: string,
  { model = 'a', channel = 'x', charge = 0n, cost = 0n, unknown = 0, endUser = '' },
) {
  const now = () => Date.parse(`${day}T12:00:00Z`);
  const ledger = createLedger({ collection: ledgerCollection(world.db), key: testLedgerKey, now });
  const held = 1_000_000n;
  const of = { account: 'acme', task };
  const by = { key: 'key_1', model, ...(endUser === '' ? {} : { endUser }) };
  await ledger.hold({ ...of, by, amount: held, basis: '{}', overdraftLimit: 10n ** 12n });
  const upstream = { model, channel, cost, unknown };
  if (charge === 0n) await ledger.void({ ...of, upstream });
  else await ledger.settle({ ...of, held, amount: charge, upstream });
  return ledger;
}

const rowsOf = async (query: string) => {
  const { body } = await world.admin('GET', `/margin?${query}`);
  return body.data.map((row: Record<string, unknown>) => Object.values(row));
};

async function someTasks() {
  await end('2026-01-30', 't0', { charge: 9_000_000n });
  const ledger = await end('2026-01-31', 't1', { charge: 3_000_000n, cost: 1_000_000n, endUser: 'mia' });
  await end('2026-02-01', 't2', { model: 'b', channel: 'y', charge: 500_000n, cost: 700_000n, unknown: 1 });
  await end('2026-02-01', 't3', { model: 'b', cost: 200_000n });
  await end('2026-02-01', 't4', { channel: '' });
  const upstream = { model: 'a', channel: 'x', cost: 0n, unknown: 0 };
  await ledger.refund({ account: 'acme', task: 't1', amount: 250_000n, upstream });
}

it('adds up tasks that ended on these days, the lowest margin first', async () => {
  await someTasks();
  const days = 'from=2026-01-31&to=2026-02-02';
  expect(await rowsOf(days)).toEqual([
    ['b', 2, '0.500000', '0.000000', '0.900000', 1, '-0.400000'],
    ['a', 2, '3.000000', '0.250000', '1.000000', 0, '1.750000'],
  ]);
  expect(await rowsOf(`${days}&by=channel`)).toEqual([
    ['y', 1, '0.500000', '0.000000', '0.700000', 1, '-0.200000'],
    [null, 1, '0.000000', '0.000000', '0.000000', 0, '0.000000'],
    ['x', 2, '3.000000', '0.250000', '1.200000', 0, '1.550000'],
  ]);
  expect(await rowsOf(`${days}&by=`)).toEqual([[4, '3.500000', '0.250000', '1.900000', 1, '1.350000']]);
  expect(await rowsOf(`${days}&by=key`)).toEqual([
    ['key_1', 4, '3.500000', '0.250000', '1.900000', 1, '1.350000'],
  ]);
  expect(await rowsOf(`${days}&by=end_user`)).toEqual([
    [null, 3, '0.500000', '0.000000', '0.900000', 1, '-0.400000'],
    ['mia', 1, '3.000000', '0.250000', '1.000000', 0, '1.750000'],
  ]);
  const { body } = await world.admin('GET', `/margin?${days}&by=account,day`);
  expect(body).toEqual({
    object: 'margin',
    currency: 'USD',
    from: '2026-01-31',
    to: '2026-02-02',
    data: [
      {
        day: '2026-01-31', account: 'acme', tasks: 1, charged: '3.000000', refunded: '0.000000',
        cost: '1.000000', cost_unknown: 0, margin: '2.000000',
      },
      {
        day: '2026-02-01', account: 'acme', tasks: 3, charged: '0.500000', refunded: '0.250000',
        cost: '0.900000', cost_unknown: 1, margin: '-0.650000',
      },
    ],
  }); // prettier-ignore
});

it('as CSV, and in the command line', async () => {
  const { text, headers } = await world.admin('GET', '/margin?from=2026-01-31&to=2026-02-02&format=csv');
  expect(headers['content-type']).toBe('text/csv; charset=utf-8');
  expect(text).toBe(
    'model,tasks,charged,refunded,cost,cost_unknown,margin\r\n' +
      'b,2,0.500000,0.000000,0.900000,1,-0.400000\r\na,2,3.000000,0.250000,1.000000,0,1.750000\r\n',
  );
  const line = ['margin', '--from', '2026-01-31', '--to', '2026-02-01', '--by', 'day,channel'];
  const { text: table } = await runLine(world, line);
  expect(table.split('\n').map((printed) => printed.split(/ {2,}/))).toEqual([
    ['DAY', 'CHANNEL', 'TASKS', 'CHARGED', 'REFUNDED', 'COST', 'COST_UNKNOWN', 'MARGIN'],
    ['2026-01-31', 'x', '1', '3.000000', '0.000000', '1.000000', '0', '2.000000'],
  ]);
  const directory = await mkdtemp(join(tmpdir(), 'mediary-test-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const file = join(directory, 'margin.csv');
  await runLine(world, [...line, '--csv', file]);
  expect(await readFile(file, 'utf8')).toContain('2026-01-31,x,1,');
});

it('is for operators', async () => {
  const { body } = await world.admin('POST', '/operators', { name: 'reader', roles: ['viewer'] });
  const headers = { authorization: `Bearer ${body.token}` };
  expect((await world.call('GET', '/admin/v1/margin', { headers })).status).toBe(200);
  const account = await world.newAccount();
  expect((await account.call('GET', '/admin/v1/margin')).status).toBe(401);
});

it.each([
  ['from=2026-13-01', 'from'],
  ['from=2026-02-02&to=2026-02-01', 'to'],
  ['by=task', 'by'],
])('400: %s', async (query, param) => {
  const { status, body } = await world.admin('GET', `/margin?${query}`);
  expect([status, body.error.param]).toEqual([400, param]);
});
