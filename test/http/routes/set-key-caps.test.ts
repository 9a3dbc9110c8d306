import { expect, it } from 'vitest';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_set_key_caps');

const dayMs = 86_400_000;
/** Daily caps reset at midnight, so advance the clock to noon. */
const untilNoonMs = () => 1.5 * dayMs - (Date.now() % dayMs);

const holdOf = '0.500000';

it('a key creates within its caps, reads what is left, and is refused above them', async () => {
  world.clock.aheadMs += untilNoonMs();
  const account = await world.newAccount();
  const { id } = await keyOf(account.id);
  const before = await account.create();
  expect(before.status).toBe(200);
  expect(before.headers['x-mediary-cap']).toBeUndefined();

  const set = await caps(id, { day: '1.2', total: '50', models: [{ model: 'clip', month: '20' }] });
  expect(set.body).toMatchObject({
    caps: { day: '1.200000', total: '50.000000', models: [{ model: 'clip', month: '20.000000' }] },
    changes: [expect.anything(), { by: 'admin', action: 'caps changed', reason: 'trial' }],
  });

  const second = await account.create();
  expect(second.status).toBe(200);
  expect(second.headers['x-mediary-cap']).toBe('key/day');
  expect(second.headers['x-mediary-cap-limit']).toBe('1.200000');
  expect(second.headers['x-mediary-cap-remaining']).toBe('0.200000');
  expect(Number(second.headers['x-mediary-cap-reset']) % 86_400).toBe(0);

  const refused = await account.create();
  expect([refused.status, refused.body.error.code]).toEqual([402, 'spend_cap_exceeded']);
  expect(refused.body.error.cap).toEqual({
    scope: 'key', window: 'day', limit: '1.200000', used: '1.000000', left: '0.200000',
    resets_at: Number(second.headers['x-mediary-cap-reset']),
  }); // prettier-ignore
  expect(refused.body.error.message).toContain(holdOf);
  expect(refused.headers['x-should-retry']).toBe('false');

  const estimate = await account.call('POST', '/v1/videos/generations/estimate', {
    body: { model: 'clip', prompt: 'a boat' },
  });
  expect([estimate.status, estimate.body.refused_by]).toEqual([200, refused.body.error.cap]);

  const balance = (await account.call('GET', '/v1/balance')).body;
  expect(balance).toMatchObject({
    held: '1.000000',
    caps: [refused.body.error.cap, { window: 'total', used: '1.000000', left: '49.000000' }],
  });
  const own = (await account.call('GET', '/v1/key')).body;
  expect(own).toMatchObject({
    object: 'key',
    id,
    account: account.id,
    spent: {
      day: { used: '1.000000', limit: '1.200000', left: '0.200000' },
      month: { used: '1.000000', limit: null, left: null },
      total: { used: '1.000000', limit: '50.000000', left: '49.000000' },
    },
    models: [{ model: 'clip', spent: { month: { used: '1.000000', limit: '20.000000' } } }],
  });

  world.clock.aheadMs += dayMs;
  expect((await account.create()).status).toBe(200);
  await caps(id, { month: '0' });
  expect((await account.create()).body.error).toMatchObject({ cap: { window: 'month', left: '0.000000' } });
  await caps(id, {});
  expect((await account.create()).status).toBe(200);
});

it('a repeat with the same idempotency key counts once, even at the last micro-unit of a cap', async () => {
  const account = await world.newAccount();
  const { id } = await keyOf(account.id);
  await caps(id, { total: holdOf });
  const headers = { 'idempotency-key': 'once' };
  const first = await account.create({}, headers);
  expect(first.status).toBe(200);
  const again = await account.create({}, headers);
  expect([again.status, again.body.id]).toEqual([200, first.body.id]);
  expect((await account.call('GET', '/v1/key')).body.spent.total).toMatchObject({
    used: holdOf,
    left: '0.000000',
  });
});

it('404, 400', async () => {
  const { id } = await keyOf((await world.newAccount()).id);
  expect((await caps('key_none', { day: '1' })).body.error.code).toBe('key_not_found');
  expect((await caps(id, { day: '-1' })).body.error.param).toBe('day');
  expect((await caps(id, { month: 5 })).body.error.param).toBe('month');
  expect((await caps(id, { models: [{ model: 'none' }] })).body.error.param).toBe('models[0].model');
  const twice = [{ model: 'clip' }, { model: 'clip' }];
  expect((await caps(id, { models: twice })).body.error.param).toBe('models');
});

const caps = (key: string, body: object) =>
  world.admin('POST', `/keys/${key}/caps`, { ...body, reason: 'trial' });

async function keyOf(account: string): Promise<{ readonly id: string }> {
  return (await world.admin('GET', `/keys?account=${account}`)).body.data[0];
}
