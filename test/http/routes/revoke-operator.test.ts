import { expect, it } from 'vitest';
import { adminCaller } from '../../support/client.ts';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_revoke_operator');

it('the token is refused at once here, and within 5 s on another node', async () => {
  const { token } = (await world.admin('POST', '/operators', { name: 'anna' })).body;
  const node = await world.startNode();
  expect((await adminCaller(node.url, token)('GET', '/keys')).status).toBe(200);
  expect((await adminCaller(world.url, token)('GET', '/keys')).status).toBe(200);
  const revoked = await world.admin('DELETE', '/operators/anna');
  expect([revoked.status, revoked.body]).toEqual([200, { object: 'operator', name: 'anna', revoked: true }]);
  expect((await adminCaller(world.url, token)('GET', '/keys')).status).toBe(401);
  world.clock.aheadMs += 5_000;
  expect((await adminCaller(node.url, token)('GET', '/keys')).status).toBe(401);
});

it('revoking again keeps the first time; the name can be added again, with another token', async () => {
  const first = (await world.admin('POST', '/operators', { name: 'bert' })).body.token;
  await world.admin('DELETE', '/operators/bert');
  const since = (await world.stores.operators.list()).find(({ name }) => name === 'bert')?.revokedAt;
  world.clock.aheadMs += 5_000;
  expect((await world.admin('DELETE', '/operators/bert')).status).toBe(200);
  const again = (await world.stores.operators.list()).find(({ name }) => name === 'bert');
  expect(again?.revokedAt).toBe(since);
  const second = (await world.admin('POST', '/operators', { name: 'bert', roles: ['read'] })).body.token;
  expect((await adminCaller(world.url, second)('GET', '/keys')).status).toBe(200);
  expect((await adminCaller(world.url, first)('GET', '/keys')).status).toBe(401);
  expect((await world.admin('DELETE', '/operators/bert')).status).toBe(200);
});

it('404', async () => {
  const answer = await world.admin('DELETE', '/operators/none');
  expect([answer.status, answer.body.error.code]).toEqual([404, 'operator_not_found']);
});
