import { expect, it } from 'vitest';
import { ledgerCollection } from '../../../src/ledger/collection.ts';
import { createLedger } from '../../../src/ledger/ledger.ts';
import { testLedgerKey } from '../../support/sealing.ts';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_list_channels');

it('all of them, without secrets', async () => {
  const { body, text } = await world.admin('GET', '/channels');
  expect(body.data).toHaveLength(3);
  expect(body.data[2]).toMatchObject({
    object: 'channel',
    id: 'three',
    provider: 'test',
    enabled: true,
    configured: true,
    switch: null,
    credentials: ['c'],
    models: ['other'],
  });
  expect(text).not.toMatch(/api_key|127\.0\.0\.1/);
});

it('with the outcomes of the last three hours, counted once in half a minute', async () => {
  const start = Date.parse('2031-03-02T12:00:00Z');
  world.clock.stoppedAt = start;
  const account = await world.newAccount();
  const create = async () => (await account.create()).body.id;
  const [done, failed, running] = [await create(), await create(), await create()];
  for (const id of [done, failed, running]) await world.drive.accept(id);
  world.clock.stoppedAt = start + 60_000;
  await world.drive.succeed(done, {
    kind: 'succeeded',
    items: [{ url: 'https://a.example/1.mp4' }],
    facts: {},
  });
  await world.drive.fail(
    failed,
    { code: 'provider_error', message: 'm', class: 'capacity' },
    { kind: 'failed', code: 'busy', message: 'm', failure: { class: 'capacity' } },
  );
  const recents = async () => {
    const { data } = (await world.admin('GET', '/channels')).body;
    return data.map(({ recent }: { recent: object }) => recent);
  };
  const [one, two] = await recents();
  expect(one).toMatchObject({ tasks: 3, succeeded: 1, failures: [{ class: 'capacity', count: 1 }] });
  expect([one.mean_seconds, one.longest_seconds]).toEqual([60, 60]);
  expect(two).toMatchObject({ tasks: 0, succeeded: 0, failures: [], mean_seconds: null });
  await world.drive.accept(await create());
  expect((await recents())[0].tasks).toBe(3);
  world.clock.stoppedAt += 30_000;
  expect((await recents())[0].tasks).toBe(4);
  world.clock.stoppedAt += 4 * 3_600_000;
  expect((await recents())[0].tasks).toBe(0);
});

it('with the sums of the tasks that ended today, less refunds and costs', async () => {
  world.clock.stoppedAt = Date.parse('2031-03-03T12:00:00Z');
  const { now } = world.deps;
  const ledger = createLedger({ collection: ledgerCollection(world.db), key: testLedgerKey, now });
  const of = { account: 'acme', task: 't1' };
  const held = 9_000_000n;
  const by = { key: 'key_1', model: 'clip' };
  await ledger.hold({ ...of, by, amount: held, basis: '{}', overdraftLimit: held });
  const upstream = { model: 'clip', channel: 'two', cost: 1_000_000n, unknown: 1 };
  await ledger.settle({ ...of, held, amount: 3_000_000n, upstream });
  const todays = async () => {
    const { data } = (await world.admin('GET', '/channels')).body;
    return data.map(({ today }: { today: object }) => today);
  };
  await expect
    .poll(todays)
    .toEqual([null, { charged: '3.000000', cost: '1.000000', cost_unknown: 1, margin: '2.000000' }, null]);
});

it('without those counts if they are unavailable', async () => {
  const tasks = { ...world.stores.tasks, countByChannel: () => Promise.reject(new Error('too long')) };
  const node = await world.startNode({ tasks });
  const { status, body } = await node.admin('GET', '/channels');
  expect([status, body.data.map(({ recent }: { recent: object }) => recent)]).toEqual([
    200,
    [null, null, null],
  ]);
});

it('without waiting long for today’s sums, which are computed once for all', async () => {
  world.clock.stoppedAt = Date.parse('2031-03-04T12:00:00Z');
  let end = (): void => undefined;
  const ended = new Promise<void>((resolve) => (end = resolve));
  let reads = 0;
  const zero = { tasks: 1, charged: 0n, refunded: 0n, cost: 0n, unknown: 0 };
  async function* margin() {
    reads += 1;
    await ended;
    yield { ...zero, of: { channel: 'one' }, charged: 5_000_000n };
  }
  const node = await world.startNode({ ledger: { ...world.deps.ledger, margin } });
  const todays = async () => {
    const { data } = (await node.admin('GET', '/channels')).body;
    return data.map(({ today }: { today: { charged: string } | null }) => today?.charged ?? null);
  };
  expect(await todays()).toEqual([null, null, null]);
  world.clock.stoppedAt += 20_000;
  expect(await todays()).toEqual([null, null, null]);
  end();
  await expect.poll(todays).toEqual(['5.000000', null, null]);
  expect(reads).toBe(1);
});
