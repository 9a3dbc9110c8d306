import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Caps, KeyCaps } from '../../src/money/caps.ts';
import { dayMs } from '../../src/base/times.ts';
import type { ApiKey } from '../../src/store/keys.ts';
import { heldText, useLedgerWorld } from '../ledger/support.ts';
import { startCallbackReceiver } from '../support/callback-receiver.ts';
import { testSealing } from '../support/sealing.ts';
import { ensureAlertIndexes, startAlertProcess, useDelivery } from './alert-process.ts';

const world = useLedgerWorld('cap_alerts');
const noon = Date.UTC(2027, 0, 12, 12);
let clock = noon;
let names = 0;
const deliver = useDelivery();
const receivers: Awaited<ReturnType<typeof startCallbackReceiver>>[] = [];

beforeAll(() => ensureAlertIndexes(world));
afterAll(async () => {
  await Promise.all(receivers.map((receiver) => receiver.close()));
});

type Process = Awaited<ReturnType<typeof startProcess>>;
const startProcess = () => startAlertProcess(world, { now: () => clock, ledgerNow: () => clock, deliver });

const keyOf = (account: string, id: string, terms: Partial<ApiKey>): ApiKey => ({
  hmac: `hmac of ${id}`,
  id,
  account,
  name: '',
  prefix: '',
  scopes: ['create'],
  createdAt: noon,
  ...terms,
});

const change = { at: noon, by: 'ops', action: 'caps changed', reason: 'test' };
const forAll = (all: Caps): KeyCaps => ({ all, models: new Map() });

interface Capped {
  readonly caps?: KeyCaps;
  readonly users?: Caps;
  readonly statuses?: readonly number[];
  readonly createdAt?: number;
}

async function watched(process: Process, { caps = forAll({}), users, statuses, createdAt = noon }: Capped) {
  const account = world.newAccount();
  const key = `key_${account}`;
  const receiver = await startCallbackReceiver(statuses);
  receivers.push(receiver);
  await process.accounts.insert({
    id: account,
    name: '',
    overdraftLimit: 0n,
    webhookSecrets: [],
    createdAt: noon,
  });
  if (users !== undefined) {
    await process.accounts.setEndUserCaps(account, { default: users, named: new Map() }, change);
  }
  await process.keys.insert(keyOf(account, key, { caps, createdAt }));
  await process.ledger.credit({ account, amount: 1_000_000n, reference: 'start' });
  const ask = async (by = process) => {
    const { seq: upTo } = await by.ledger.balance(account);
    const address = testSealing.seal({ purpose: 'alert-address', id: account }, receiver.url);
    await by.store.set({ account, address, caps: { upTo, revision: 1, judged: 0 } });
    by.alerts.note(account, await by.ledger.balance(account));
  };
  await ask();
  const spend = async (amount: bigint, { by = process, model = 'm', endUser = 'zoe' } = {}) => {
    const task = `task_${(names += 1)}`;
    const spender = { key, model, endUser };
    const result = await by.ledger.hold({
      account,
      task,
      by: spender,
      amount,
      overdraftLimit: 0n,
      basis: heldText,
    });
    expect(result.ok).toBe(true);
    return () => by.ledger.release({ account, task, held: amount });
  };
  const events = () =>
    receiver.received
      .map(({ body: { data } }) => `${data.cap.scope} ${data.cap.window} ${data.percent}: ${data.cap.used}`)
      .toSorted();
  return { account, key, receiver, ask, spend, events };
}

it('each percentage of each cap is one event for any number of processes, and names the owner of the cap', async () => {
  const [one, two] = [await startProcess(), await startProcess()];
  const caps = { all: { day: 100n, total: 1000n }, models: new Map([['m', { month: 50n }]]) };
  const { account, key, receiver, spend, events } = await watched(one, { caps, users: { day: 60n } });
  await spend(24n);
  await one.alerts.run();
  expect(events()).toEqual([]);
  await spend(6n);
  await spend(20n, { by: two });
  await Promise.all([one.alerts.run(), two.alerts.run(), one.alerts.run(), two.alerts.run()]);
  await Promise.all([one.alerts.run(), two.alerts.run()]);
  expect(events()).toEqual([
    'end_user day 50: 0.000030',
    'end_user day 80: 0.000050',
    'key day 50: 0.000050',
    'model month 100: 0.000050',
    'model month 50: 0.000030',
    'model month 80: 0.000050',
  ]);
  const found = receiver.received.map(({ body }) => body);
  expect(found.find(({ data }) => data.cap.scope === 'model' && data.percent === 100)).toEqual({
    type: 'cap.reached',
    timestamp: new Date(clock).toISOString(),
    data: {
      account,
      currency: 'USD',
      percent: 100,
      key,
      model: 'm',
      cap: {
        scope: 'model',
        window: 'month',
        limit: '0.000050',
        used: '0.000050',
        left: '0.000000',
        resets_at: Date.UTC(2027, 1) / 1000,
      },
      at: clock / 1000,
    },
  });
  const users = found.flatMap(({ data }) => data.end_user ?? []);
  expect(users).toEqual(['zoe', 'zoe']);
  await spend(10n);
  await Promise.all([one.alerts.run(), two.alerts.run()]);
  expect(events()).toHaveLength(7);
  expect(events()).toContain('end_user day 100: 0.000060');
});

it('the event of a monthly cap contains the projected cost of the month', async () => {
  const one = await startProcess();
  clock = Date.UTC(2027, 0, 2, 12);
  const caps = { all: { day: 20n, month: 100n }, models: new Map([['m', { month: 100n }]]) };
  const { spend, receiver } = await watched(one, { caps, createdAt: Date.UTC(2026, 0) });
  await spend(11n);
  clock = noon;
  await spend(45n);
  await one.alerts.run();
  const said = receiver.received.map(
    ({ body: { data } }) => `${data.cap.scope} ${data.cap.window}: ${data.projected ?? 'none'}`,
  );
  const whole = ['key month: 0.000075', 'model month: 0.000075'];
  expect(new Set(said)).toEqual(new Set(['key day: none', ...whole]));
});

it('the event of a past month contains nothing about the next one', async () => {
  const one = await startProcess();
  clock = noon;
  const { spend, receiver } = await watched(one, {
    caps: forAll({ month: 100n }),
    statuses: [500, 204],
    createdAt: Date.UTC(2026, 0),
  });
  await spend(55n);
  await one.alerts.run();
  clock = Date.UTC(2027, 1, 6);
  await one.alerts.run();
  const projected = receiver.received.map(({ body: { data } }) => data.projected);
  expect(projected).toEqual([expect.any(String), undefined]);
  clock = noon;
});

it('a cap that is reached and released between two comparisons, or within one insert, is reported once in its window', async () => {
  const one = await startProcess();
  const { spend, events } = await watched(one, { caps: forAll({ day: 100n }) });
  const release = await spend(80n);
  await release();
  await one.alerts.run();
  expect(events()).toEqual(['key day 50: 0.000080', 'key day 80: 0.000080']);
  for (let n = 0; n < 3; n += 1) {
    await (
      await spend(90n)
    )();
    await one.alerts.run();
  }
  expect(events()).toHaveLength(2);
  clock += dayMs;
  await spend(55n);
  await one.alerts.run();
  expect(events()).toEqual(['key day 50: 0.000055', 'key day 50: 0.000080', 'key day 80: 0.000080']);
});

it('the upkeep finds the entries of a process that died, with the highest use', async () => {
  const [dead, alive] = [await startProcess(), await startProcess()];
  const { spend, events } = await watched(dead, { caps: forAll({ month: 100n }) });
  await dead.alerts.run();
  await (
    await spend(100n)
  )();
  await alive.alerts.run();
  expect(events()).toEqual([]);
  await alive.alerts.repair();
  expect((await alive.alerts.repair()).done).toBe(0);
  await alive.alerts.run();
  await dead.alerts.run();
  expect(events()).toEqual(['key month 100: 0.000100', 'key month 50: 0.000100', 'key month 80: 0.000100']);
});

it('earlier usage counts when an account subscribes to events, and when a cap is changed', async () => {
  const one = await startProcess();
  const { account, key, ask, spend, events } = await watched(one, { caps: forAll({ month: 100n }) });
  await one.store.remove(account);
  await spend(60n);
  await ask();
  await one.alerts.run();
  expect(events()).toEqual(['key month 50: 0.000060']);
  await ask();
  await one.alerts.run();
  expect(events()).toHaveLength(1);
  const judge = async (month: bigint) => {
    await one.keys.setCaps(key, forAll({ month }), change);
    await one.store.noteCapsChanged(account);
    one.alerts.note(account, await one.ledger.balance(account));
    await one.alerts.run();
  };
  await judge(1_000n);
  expect(events()).toHaveLength(1);
  await judge(70n);
  expect(events()).toEqual(['key month 50: 0.000060', 'key month 50: 0.000060', 'key month 80: 0.000060']);
  await judge(100n);
  expect(events()).toHaveLength(3);
});

it('the caps of a key that replaced another one apply, but not those of a key that has ended', async () => {
  const one = await startProcess();
  const { account, key, spend, events } = await watched(one, { caps: forAll({ day: 10n }) });
  const next = `${key}b`;
  await one.keys.insert(keyOf(account, next, { caps: forAll({ day: 200n }), countedAs: key }));
  await one.keys.replace(key, { by: next, endsAt: clock + dayMs, change });
  await spend(110n);
  await one.alerts.run();
  expect(events()).toEqual(['key day 50: 0.000110']);
  await one.keys.revoke(next, 'ops', 'test');
  await spend(90n);
  await one.alerts.run();
  expect(events()).toHaveLength(1);
});

it('an event is repeated until it is accepted, and is dropped when the account no longer subscribes to events', async () => {
  const one = await startProcess();
  const { account, receiver, spend } = await watched(one, {
    caps: forAll({ day: 10n }),
    statuses: [500, 204],
  });
  await spend(5n);
  await one.alerts.run();
  expect(await one.events.countUndelivered(account)).toBe(1);
  clock += 10_000;
  await one.alerts.run();
  expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  expect([receiver.received.length, await one.events.countUndelivered(account)]).toEqual([2, 0]);
  await spend(5n);
  await one.store.set({
    account,
    threshold: 1n,
    address: testSealing.seal({ purpose: 'alert-address', id: account }, receiver.url),
  });
  await one.alerts.run();
  expect([receiver.received.length, await one.events.countUndelivered(account)]).toEqual([2, 0]);
});
