import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createHostPlaces } from '../../src/capacity/host-places.ts';
import type { AccountAlertsDeps } from '../../src/notices/account-alerts.ts';
import { useLedgerWorld } from '../ledger/support.ts';
import { startCallbackReceiver } from '../support/callback-receiver.ts';
import { pauseFirstAt } from '../support/race.ts';
import { testSealing } from '../support/sealing.ts';
import { ensureAlertIndexes, startAlertProcess, useDelivery, webhookSecret } from './alert-process.ts';

const world = useLedgerWorld('account_alerts');
let clock = 1_800_000_000_000;
const deliver = useDelivery();
const receivers: Awaited<ReturnType<typeof startCallbackReceiver>>[] = [];

beforeAll(() => ensureAlertIndexes(world));
afterAll(async () => {
  await Promise.all(receivers.map((receiver) => receiver.close()));
});

const startProcess = (change: Partial<AccountAlertsDeps> = {}) =>
  startAlertProcess(world, { now: () => clock, deliver, ...change });

type Process = Awaited<ReturnType<typeof startProcess>>;

async function watched({ store, ledger }: Process, statuses?: readonly number[]) {
  const account = world.newAccount();
  const receiver = await startCallbackReceiver(statuses);
  receivers.push(receiver);
  const address = testSealing.seal({ purpose: 'alert-address', id: account }, receiver.url);
  let count = 0;
  const credit = (amount: bigint, by = ledger) =>
    by.credit({ account, amount, reference: `r${(count += 1)}` });
  await credit(20n);
  await store.set({ account, threshold: 10n, address });
  const events = () => receiver.received.map(({ body }) => [body.type, body.data.available]);
  return { account, receiver, credit, events };
}

it('a fall below the threshold is one signed event for any number of processes; the next follows after a rise', async () => {
  const [one, two] = [await startProcess(), await startProcess()];
  const { account, receiver, credit, events } = await watched(one);
  await Promise.all([one.alerts.run(), two.alerts.run()]);
  expect(events()).toEqual([]);
  await credit(-10n);
  await one.alerts.run();
  expect(events()).toEqual([]);
  await credit(-1n);
  await credit(-1n, two.ledger);
  await Promise.all([one.alerts.run(), two.alerts.run(), one.alerts.run(), two.alerts.run()]);
  expect(events()).toHaveLength(1);
  const [{ headers, text, body } = expect.fail()] = receiver.received;
  expect(body).toEqual({
    type: 'balance.low',
    timestamp: new Date(clock).toISOString(),
    data: {
      account,
      currency: 'USD',
      available: expect.stringMatching(/^0\.00000[89]$/),
      threshold: '0.000010',
      at: clock / 1000,
    },
  });
  const atItsTime = headers as Record<string, string>;
  expect(() => new Webhook(webhookSecret).verify(text, atItsTime)).toThrow('Message timestamp too new');
  expect(headers['webhook-signature']).toBe(
    new Webhook(webhookSecret).sign(String(headers['webhook-id']), new Date(clock), text),
  );
  await credit(-1n);
  await one.alerts.run();
  await credit(5n, two.ledger);
  await two.alerts.run();
  expect(events()).toHaveLength(1);
  await credit(-5n);
  await Promise.all([one.alerts.run(), two.alerts.run()]);
  expect(events()).toHaveLength(2);
});

it('a balance that falls and rises between two checks, or within one insert, is an event each time', async () => {
  const one = await startProcess();
  const { credit, events } = await watched(one);
  for (let n = 1; n <= 3; n += 1) {
    await credit(-15n);
    await credit(15n);
    await one.alerts.run();
    expect(events()).toHaveLength(n);
  }
  await Promise.all([credit(-15n), credit(15n)]);
  await one.alerts.run();
  expect(events()).toHaveLength(4);
  await one.alerts.run();
  expect(events()).toHaveLength(4);
  expect(events().at(-1)).toEqual(['balance.low', '0.000005']);
});

it('a process that was paused decides nothing by its outdated view', async () => {
  const [slow, fast] = [await startProcess(), await startProcess()];
  const { account, credit, events } = await watched(slow);
  await credit(-15n);
  const paused = pauseFirstAt('alert.cross', account);
  const late = slow.alerts.run();
  await paused.reached;
  await credit(15n, fast.ledger);
  await fast.alerts.run();
  await credit(-15n, fast.ledger);
  await fast.alerts.run();
  expect(events()).toHaveLength(1);
  await credit(15n, fast.ledger);
  await fast.alerts.run();
  paused.release();
  await late;
  await fast.alerts.run();
  expect(events()).toHaveLength(1);
});

it('an event is retried under its id until it is accepted, by one process at a time', async () => {
  const [one, two] = [await startProcess(), await startProcess()];
  const { account, receiver, credit } = await watched(one, [503, 503, 204]);
  await credit(-11n);
  await one.alerts.run();
  await one.alerts.run();
  expect(receiver.received).toHaveLength(1);
  clock += 10_000;
  await Promise.all([one.alerts.run(), two.alerts.run()]);
  expect(receiver.received).toHaveLength(2);
  clock += 10 * 60_000;
  await two.alerts.run();
  clock += 10 * 60_000;
  await one.alerts.run();
  expect(receiver.received).toHaveLength(3);
  expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  expect((await one.store.findMany([account]))[0]).toMatchObject({ isBelow: true, pending: [] });
});

it('an address that responds with 410, or never accepts, gets no more requests', async () => {
  const one = await startProcess();
  const gone = await watched(one, [410]);
  const away = await watched(one, [500]);
  await Promise.all([gone.credit(-11n), away.credit(-11n)]);
  for (let n = 0; n < 12; n += 1) {
    await one.alerts.run();
    clock += 2 * 86_400_000;
  }
  expect([gone.receiver.received.length, away.receiver.received.length]).toEqual([1, 10]);
});

it('a secret that cannot be opened costs no request', async () => {
  let isUnreadable = true;
  const one = await startProcess({
    webhookSecrets: async () => (isUnreadable ? Promise.reject(new Error('no such key')) : [webhookSecret]),
  });
  const { receiver, credit } = await watched(one, [503, 204]);
  await credit(-11n);
  for (let n = 0; n < 12; n += 1) {
    await one.alerts.run();
    clock += 60_000;
  }
  expect(receiver.received).toHaveLength(0);
  isUnreadable = false;
  await one.alerts.run();
  clock += 60_000;
  await one.alerts.run();
  expect(receiver.received).toHaveLength(2);
});

it('the upkeep finds what a dead process had noticed', async () => {
  const [dead, alive] = [await startProcess(), await startProcess()];
  const { credit, events } = await watched(dead);
  await credit(-11n);
  expect((await alive.alerts.repair()).done).toBe(1);
  expect((await alive.alerts.repair()).done).toBe(0);
  await alive.alerts.run();
  await dead.alerts.run();
  expect(events()).toHaveLength(1);
});

it('a receiver that hangs delays neither the round nor the events of other accounts', async () => {
  const places = createHostPlaces({
    requestsPerHostMax: 16,
    requestsPerAccountMax: 1,
    waitMs: 1_000,
    now: () => clock,
    random: () => 0.5,
  });
  let hanging = '';
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  const posted: string[] = [];
  const process = await startProcess({
    takePlace: (origin, account) => places.take(origin, account),
    async deliver(delivery) {
      posted.push(delivery.url);
      if (delivery.url === hanging) await released;
      return deliver(delivery);
    },
  });
  const [slow, quick] = [await watched(process), await watched(process)];
  hanging = slow.receiver.url;
  await slow.credit(-15n);
  await process.alerts.run();
  await slow.credit(10n);
  await process.alerts.run();
  await slow.credit(-10n);
  await quick.credit(-15n);
  await process.alerts.run();
  expect(quick.events()).toHaveLength(1);
  expect(posted.filter((url) => url === hanging)).toHaveLength(1);
  release();
  await process.alerts.stop();
  clock += 10 * 60_000;
  await process.alerts.run();
  expect(slow.events()).toHaveLength(2);
});
