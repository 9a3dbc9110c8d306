import { expect, it } from 'vitest';
import { adminCaller } from '../../support/client.ts';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_list_operators');

it('by name, with role, last use and end', async () => {
  const { token } = (await world.admin('POST', '/operators', { name: 'berta', roles: ['read'] })).body;
  await world.admin('POST', '/operators', { name: 'anton' });
  expect((await adminCaller(world.url, token)('GET', '/keys')).status).toBe(200);
  const before = (await world.admin('GET', '/operators')).body.data;
  expect(before.map((row: { last_used_at: unknown }) => row.last_used_at)).toEqual([null, null]);
  await world.noteUses();
  await world.admin('DELETE', '/operators/anton');
  const { body } = await world.admin('GET', '/operators');
  expect(body).toMatchObject({
    object: 'list',
    data: [
      {
        name: 'anton',
        roles: ['read'],
        last_used_at: null,
        revoked_at: expect.any(Number),
        revoked_by: 'admin',
      },
      {
        name: 'berta',
        roles: ['read'],
        last_used_at: expect.any(Number),
        revoked_at: null,
        revoked_by: null,
      },
    ],
  });
});
