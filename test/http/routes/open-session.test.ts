import { expect, it } from 'vitest';
import { adminCaller } from '../../support/client.ts';
import { adminToken, useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_open_session');

it('returns its own token, which acts under the operator’s name and is stored nowhere', async () => {
  const { body: ben } = await world.admin('POST', '/operators', { name: 'ben', roles: ['access'] });
  const opened = await adminCaller(world.url, ben.token)('POST', '/sessions');
  expect(opened.body).toMatchObject({
    object: 'operator_session',
    operator: 'ben',
    token: expect.stringMatching(/^os-[0-9A-Za-z]{43}[0-9a-f]{8}$/),
  });
  expect(opened.body.expires_at - opened.body.created_at).toBe(12 * 3600);
  const session = adminCaller(world.url, opened.body.token);
  expect((await session('GET', '/overview')).body.operator).toMatchObject({ name: 'ben' });
  expect((await session('POST', '/accounts', { id: 'by-a-session' })).status).toBe(200);
  const stored = JSON.stringify([await world.stores.operatorSessions.list({}), world.logLines]);
  expect(stored).not.toContain(opened.body.token.slice(8));
  const { entries } = await world.stores.audit.list({ by: 'ben' }, { limit: 5 });
  expect(entries.map(({ action }) => action)).toEqual(['createAccount', 'openSession']);
});

it('403: a session cannot make itself last longer', async () => {
  const { body } = await world.admin('POST', '/sessions');
  const again = await adminCaller(world.url, body.token)('POST', '/sessions');
  expect([again.status, again.body.error.code]).toEqual([403, 'operator_not_allowed']);
});

it('ends after twelve hours, and with the token that opened it', async () => {
  const { body: carla } = await world.admin('POST', '/operators', { name: 'carla' });
  const other = await world.startNode();
  const [of, byAdmin] = [
    adminCaller(other.url, (await adminCaller(world.url, carla.token)('POST', '/sessions')).body.token),
    adminCaller(other.url, (await world.admin('POST', '/sessions')).body.token),
  ];
  expect([(await of('GET', '/keys')).status, (await byAdmin('GET', '/keys')).status]).toEqual([200, 200]);
  await world.admin('DELETE', '/operators/carla');
  expect((await of('GET', '/keys')).status).toBe(401);
  world.clock.aheadMs = 12 * 3_600_000 + 1000;
  expect((await byAdmin('GET', '/keys')).status).toBe(401);
  world.clock.aheadMs = 0;
});

it('opening more than fifty ends the oldest', async () => {
  const { body: dora } = await world.admin('POST', '/operators', { name: 'dora' });
  const own = adminCaller(world.url, dora.token);
  world.clock.stoppedAt = Date.now();
  const { body: first } = await own('POST', '/sessions');
  for (let n = 0; n < 50; n += 1) {
    world.clock.stoppedAt += 1;
    await own('POST', '/sessions');
  }
  world.clock.stoppedAt = undefined;
  const { body } = await own('GET', '/sessions');
  expect(body.data).toHaveLength(50);
  expect((await adminCaller(world.url, first.token)('GET', '/keys')).status).toBe(401);
  expect(adminToken).not.toBe(first.token);
});
