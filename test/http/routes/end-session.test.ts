import { expect, it } from 'vitest';
import { adminCaller } from '../../support/client.ts';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_end_session');

async function signedIn(name: string, roles: readonly string[]) {
  const { body } = await world.admin('POST', '/operators', { name, roles });
  const { body: session } = await adminCaller(world.url, body.token)('POST', '/sessions');
  return { ...session, call: adminCaller(world.url, session.token) };
}

it('rejects its next request on every node, although they have just served it', async () => {
  const anna = await signedIn('anna', ['read']);
  const other = await world.startNode();
  const elsewhere = adminCaller(other.url, anna.token);
  expect([(await anna.call('GET', '/keys')).status, (await elsewhere('GET', '/keys')).status]).toEqual([
    200, 200,
  ]);
  const ended = await world.admin('DELETE', `/sessions/${anna.id}?reason=lost`);
  expect(ended.body).toEqual({ object: 'operator_session', id: anna.id, ended: true });
  const next = [await elsewhere('GET', '/keys'), await anna.call('GET', '/keys')];
  expect(next.map(({ status, body }) => [status, body.error.code])).toEqual([
    [401, 'invalid_api_key'],
    [401, 'invalid_api_key'],
  ]);
  const { entries } = await world.stores.audit.list({ by: 'admin' }, { limit: 1 });
  expect(entries).toMatchObject([{ action: 'endSession', target: anna.id, reason: 'lost' }]);
});

it('ends the operator’s own sessions, including `current`, and those of others only with the access role', async () => {
  const [reader, other, access] = [
    await signedIn('reader', ['read', 'money']),
    await signedIn('other', ['read']),
    await signedIn('giver', ['access']),
  ];
  const refused = await reader.call('DELETE', `/sessions/${other.id}`);
  expect([refused.status, refused.body.error.code]).toEqual([404, 'session_not_found']);
  expect((await other.call('DELETE', '/sessions/current')).status).toBe(200);
  expect((await other.call('GET', '/keys')).status).toBe(401);
  expect((await access.call('DELETE', `/sessions/${reader.id}`)).status).toBe(200);
  expect((await access.call('DELETE', `/sessions/${reader.id}`)).status).toBe(404);
  expect((await world.admin('DELETE', '/sessions/current')).status).toBe(404);
});
