import { testEndUsers } from '../../support/sealing.ts';
import { expect, it } from 'vitest';
import { createCapEventStore } from '../../../src/store/cap-events.ts';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_get_key');

it('a key without limits, which has spent nothing, is shown as such', async () => {
  const account = await world.newAccount();
  const { status, body } = await account.call('GET', '/v1/key');
  expect(status).toBe(200);
  const none = {
    used: '0.000000',
    charged: '0.000000',
    held: '0.000000',
    limit: null,
    left: null,
    reached: null,
  };
  expect(body).toEqual({
    object: 'key',
    id: expect.stringMatching(/^key_/),
    account: account.id,
    currency: 'USD',
    scopes: ['create', 'read_own', 'read_account', 'manage'],
    duration_max: null,
    resolution_max: null,
    strict: false,
    end_user_required: false,
    requests_per_minute: null,
    concurrent_tasks: null,
    spent: {
      day: { ...none, resets_at: expect.any(Number) },
      month: { ...none, resets_at: expect.any(Number) },
      total: none,
    },
    projection: {
      projected: null,
      complete_days: 0,
      ends_at: body.spent.month.resets_at,
    },
    models: [],
  });
});

it('shows which percentage of a cap is reached, and keeps what was reported for this window', async () => {
  world.clock.stoppedAt = Date.UTC(2031, 3, 15, 12);
  const account = await world.newAccount();
  const { id } = (await world.admin('GET', `/keys?account=${account.id}`)).body.data[0];
  const setDay = (day: string) => world.admin('POST', `/keys/${id}/caps`, { day, reason: 'trial' });
  const reached = async () => (await account.call('GET', '/v1/key')).body.spent.day.reached;
  await setDay('1.000001');
  expect(await reached()).toBeNull();
  await account.create();
  expect(await reached()).toBeNull();
  await setDay('1.000000');
  expect(await reached()).toBe(50);
  await setDay('0.6');
  expect(await reached()).toBe(80);
  await setDay('0.5');
  expect(await reached()).toBe(100);

  await setDay('10');
  const { limit, resets_at: resetsAt } = (await account.call('GET', '/v1/key')).body.spent.day;
  expect([await reached(), limit]).toEqual([null, '10.000000']);
  const cap = {
    scope: 'key',
    window: 'day',
    limit: 10_000_000n,
    used: 8_000_000n,
    held: 0n,
    left: 2_000_000n,
  } as const;
  await createCapEventStore(world.db, testEndUsers).add([
    {
      id: 'evt_1',
      account: account.id,
      percent: 80,
      cap: { ...cap, resetsAt: resetsAt * 1000 },
      by: { key: id },
      at: 0,
      tries: 0,
      dueAt: 0,
    },
  ]);
  expect(await reached()).toBe(80);
  world.clock.stoppedAt += 24 * 3_600_000;
  expect(await reached()).toBeNull();
  world.clock.stoppedAt = undefined;
});

it('projects the month from its complete days', async () => {
  world.clock.stoppedAt = Date.UTC(2031, 3, 1, 12);
  const account = await world.newAccount();
  const read = async (day: number) => {
    world.clock.stoppedAt = Date.UTC(2031, 3, day, 12);
    return (await account.call('GET', '/v1/key')).body.projection;
  };
  await account.create();
  expect(await read(3)).toMatchObject({ projected: null, complete_days: 2 });
  expect(await read(11)).toEqual({
    projected: '1.500000',
    complete_days: 10,
    ends_at: Date.UTC(2031, 4) / 1000,
  });
  world.clock.stoppedAt = undefined;
});
