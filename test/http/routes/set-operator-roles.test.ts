import { expect, it } from 'vitest';
import { adminCaller } from '../../support/client.ts';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_set_operator_roles');

it('the new roles replace the former ones at the next request, and the token stays valid', async () => {
  const { body } = await world.admin('POST', '/operators', { name: 'anna', roles: ['support', 'money'] });
  const anna = adminCaller(world.url, body.token);
  const account = await world.newAccount();
  const balance = () => anna('GET', `/accounts/${account.id}/balance`);
  expect((await balance()).status).toBe(200);
  const changed = await world.admin('POST', '/operators/anna/roles', { roles: ['tasks', 'access'] });
  expect(changed.body).toMatchObject({ name: 'anna', state: 'active', roles: ['read', 'tasks', 'access'] });
  expect((await balance()).status).toBe(403);
  expect((await anna('POST', '/accounts', { id: 'of-anna' })).status).toBe(200);
  expect((await world.admin('POST', '/operators/anna/roles', { roles: [] })).body.roles).toEqual(['read']);
});

it('only the holder of ADMIN_TOKEN changes roles', async () => {
  const { body } = await world.admin('POST', '/operators', { name: 'carl', roles: ['everything'] });
  const refused = await adminCaller(world.url, body.token)('POST', '/operators/carl/roles', { roles: [] });
  expect([refused.status, refused.body.error.code]).toEqual([403, 'operator_not_allowed']);
});

it('an operator that is unknown or was revoked, and a role that does not exist, are refused', async () => {
  await world.admin('POST', '/operators', { name: 'bert' });
  await world.admin('DELETE', '/operators/bert');
  for (const name of ['bert', 'nobody', 'admin']) {
    const refused = await world.admin('POST', `/operators/${name}/roles`, { roles: ['tasks'] });
    expect([refused.status, refused.body.error.code]).toEqual([404, 'operator_not_found']);
  }
  const wrong = await world.admin('POST', '/operators/bert/roles', { roles: ['root'] });
  expect([wrong.status, wrong.body.error.param]).toEqual([400, 'roles[0]']);
  const without = await world.admin('POST', '/operators/bert/roles', {});
  expect([without.status, without.body.error.param]).toEqual([400, 'roles']);
});
