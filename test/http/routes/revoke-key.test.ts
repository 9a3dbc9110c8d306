import { expect, it } from 'vitest';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_revoke_key');

it('the key opens nothing any more, and revoking it again changes nothing', async () => {
  const { keyId, call, id } = await world.newAccount();
  expect((await call('GET', '/v1/balance')).status).toBe(200);
  const revoked = await world.admin('DELETE', `/keys/${keyId}`);
  expect([revoked.status, revoked.body]).toEqual([200, { object: 'key', id: keyId, revoked: true }]);
  expect((await call('GET', '/v1/balance')).status).toBe(401);
  const since = (await world.admin('GET', `/keys?account=${id}`)).body.data[0].revoked_at;
  expect(since).toEqual(expect.any(Number));
  world.clock.aheadMs += 5_000;
  expect((await world.admin('DELETE', `/keys/${keyId}`)).status).toBe(200);
  expect((await world.admin('GET', `/keys?account=${id}`)).body.data[0].revoked_at).toBe(since);
});

it('keeps the reason, which stands in the query, in the audit log', async () => {
  const { keyId } = await world.newAccount();
  await world.admin('DELETE', `/keys/${keyId}?reason=leaked`);
  const [entry] = (await world.admin('GET', '/audit')).body.data;
  expect(entry).toMatchObject({ action: 'revokeKey', target: keyId, reason: 'leaked', what: '{}' });
});

it('404', async () => {
  const answer = await world.admin('DELETE', '/keys/none');
  expect([answer.status, answer.body.error.code]).toEqual([404, 'key_not_found']);
});
