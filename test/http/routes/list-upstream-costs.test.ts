import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { dayMs, isoSeconds } from '../../../src/base/times.ts';
import { ledgerCollection } from '../../../src/ledger/collection.ts';
import { createLedger } from '../../../src/ledger/ledger.ts';
import { runLine } from '../../cli/support.ts';
import { useHttpWorld } from '../../support/http-world.ts';
import { testLedgerKey } from '../../support/sealing.ts';

const world = useHttpWorld('route_list_upstream_costs');
/** The times of an account's entries never decrease, so this must be later than every existing entry. */
const midnight = (Math.floor(Date.now() / dayMs) + 10) * dayMs;

beforeAll(async () => {
  const { id: account } = await world.newAccount();
  let at = 0;
  const ledger = createLedger({ collection: ledgerCollection(world.db), key: testLedgerKey, now: () => at });
  const end = async (task: string, hours: number, upstream: object, isSettled = true) => {
    at = midnight + hours * 3_600_000;
    const by = { key: 'key_1', model: 'clip' };
    await ledger.hold({ account, task, by, amount: 5n, basis: '{}', overdraftLimit: 0n });
    const cost = { model: 'clip', channel: 'one', cost: 250_000n, unknown: 0, ...upstream };
    const closing = { account, task, held: 5n, upstream: cost };
    await (isSettled ? ledger.settle({ ...closing, amount: 5n, basis: '{}' }) : ledger.release(closing));
  };
  await end('task_1', 1, {});
  await end('task_2', 2, { cost: 100_000n });
  await end('task_3', 3, { cost: 0n, unknown: 1, model: 'plain' }, false);
  await end('task_4', 4, { channel: 'two' });
  await end('task_5', 25, {});
  await ledger.refund({
    account,
    task: 'task_5',
    amount: 5n,
    upstream: { model: 'clip', channel: 'one', cost: 0n, unknown: 0 },
  });
});

const list = (from: number, before: number, channel = 'one') =>
  world.admin('GET', `/upstream-costs?channel=${channel}&from=${from}&before=${before}`);

it('sums of what ended in the time, by model: whatever became of it, without refunds', async () => {
  const from = midnight / 1000;
  expect((await list(from, from + 86_400)).body).toEqual({
    object: 'list',
    currency: 'USD',
    data: [
      { model: 'clip', upstream_model: 'u', tasks: 2, cost: '0.350000', cost_unknown: 0 },
      { model: 'plain', upstream_model: 'p', tasks: 1, cost: '0.000000', cost_unknown: 1 },
    ],
  });
  expect((await list(from + 5400, from + 2 * 86_400)).body.data).toMatchObject([{ tasks: 2 }, { tasks: 1 }]);
});

it('refuses a channel that is not there, and more than two days', async () => {
  const from = midnight / 1000;
  expect((await list(from, from + 60, 'none')).status).toBe(404);
  expect((await list(from, from)).status).toBe(400);
  expect((await list(from, from + 2 * 86_400 + 1)).status).toBe(400);
});

it('gateway reconcile: a bill that names no jobs, by day and model', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'reconcile-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const bill = join(directory, 'bill.csv');
  const seconds = midnight / 1000;
  const lines = [
    `${seconds},0.35,usd,"U, output"`,
    `${seconds},,,`,
    `${seconds + 86_400},0.25,usd,"U, output"`,
  ];
  const header = 'start_time,amount_value,amount_currency,line_item';
  const reconcile = (more: readonly string[]) => {
    writeFileSync(bill, [header, ...lines, ...more].join('\n'));
    const line = ['--bill', bill, '--format', 'openai', '--channel', 'one', '--model', 'U, output=u'];
    return runLine(world, ['reconcile', ...line]);
  };
  const { text, status } = await reconcile([]);
  expect(status).toBe(1);
  expect(text).toMatch(new RegExp(`^ours_only +${isoSeconds(midnight)} +p +1 +1 +USD`, 'm'));
  expect(text).toMatch(/^matched +USD +2 +0\.6 +0\.6$/m);
  expect(text).toContain('The bill lists no jobs, so sums by day and model were compared');

  const sound = join(directory, 'sound.csv');
  writeFileSync(sound, [header, `${seconds + 86_400},0.25,usd,u`].join('\n'));
  const alone = ['--bill', sound, '--format', 'openai', '--channel', 'one'];
  expect(await runLine(world, ['reconcile', ...alone, '-o', 'json'])).toMatchObject({ status: 0 });
});
