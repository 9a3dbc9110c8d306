import { expect, it } from 'vitest';
import { adminCaller, send, type AdminCall } from '../../support/client.ts';
import { adminToken, useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_add_operator');

async function operator(name: string, role: string): Promise<AdminCall> {
  const added = await world.admin('POST', '/operators', { name, roles: [role] });
  expect([added.status, added.body]).toEqual([200, expect.objectContaining({ name })]);
  return adminCaller(world.url, added.body.token);
}

it('the token is shown once, stored as an HMAC, and opens the operators’ API', async () => {
  const added = await world.admin('POST', '/operators', {
    name: 'anna',
    roles: ['tasks', 'billing', 'tasks'],
  });
  expect(added.body).toEqual({
    object: 'operator',
    name: 'anna',
    roles: ['read', 'amounts', 'tasks', 'money'],
    state: 'active',
    invitation_expires_at: null,
    prefix: added.body.token.slice(0, 8),
    created_at: expect.any(Number),
    created_by: 'admin',
    last_used_at: null,
    revoked_at: null,
    revoked_by: null,
    token: expect.stringMatching(/^op-[0-9A-Za-z]{43}[0-9a-f]{8}$/),
  });
  const { token } = added.body;
  const secret = token.slice(8);
  expect(JSON.stringify(await world.stores.operators.list())).not.toContain(secret);
  expect((await world.admin('GET', '/operators')).text).not.toContain(secret);
  expect(world.logLines.join('')).not.toContain(secret);
  expect((await adminCaller(world.url, token)('GET', '/keys')).status).toBe(200);
  expect((await world.call('GET', '/v1/balance', { key: token })).status).toBe(401);
});

it('acts are recorded under the name of the operator’s token, whatever else the request says', async () => {
  const { body } = await world.admin('POST', '/operators', { name: 'bert', roles: ['everything'] });
  const said = { key: body.token, headers: { 'x-operator': 'eve' } };
  const account = await world.newAccount();
  const id: string = (await account.create()).body.id;
  const asBert = async (path: string, body: object) => {
    const named = await send(world.url, 'POST', path, { ...said, body: { ...body, by: 'eve' } });
    expect([named.status, named.body.error.param]).toEqual([400, 'by']);
    return send(world.url, 'POST', path, { ...said, body });
  };
  const acted = await asBert(`/admin/v1/tasks/${id}/actions`, { action: 'retry_now', reason: 'asked to' });
  expect(acted.body.actions).toMatchObject([{ by: 'bert', reason: 'asked to' }]);
  expect(world.port.acts.at(-1)?.input.by).toBe('bert');
  const credit = { amount: '1', reference: 'r', note: 'thanks' };
  const credited = await asBert(`/admin/v1/accounts/${account.id}/credits`, credit);
  expect(credited.body.note).toBe('by bert: thanks');
  const switched = await asBert('/admin/v1/channels/two', { enabled: true });
  expect(switched.body.switch.by).toBe('bert');
});

it('a reader can only read, and an operator with every role can change everything but the operators', async () => {
  const read = await operator('reader', 'read');
  const act = await operator('actor', 'everything');
  for (const path of ['/accounts', '/keys', '/tasks?account=a', '/channels', '/operators']) {
    expect([(await read('GET', path)).status, (await act('GET', path)).status]).toEqual([200, 200]);
  }
  const explained = await read('POST', '/routes/explain', { request: { model: 'clip' } });
  expect(explained.status).toBe(200);
  const refused = await read('POST', '/accounts', { id: 'of-a-reader' });
  expect([refused.status, refused.body.error]).toEqual([
    403,
    {
      message: 'The operator reader has the roles read. This needs the access role.',
      type: 'permission_error',
      param: '',
      code: 'operator_not_allowed',
    },
  ]);
  expect((await world.admin('GET', '/accounts/of-a-reader')).status).toBe(404);
  expect((await read('DELETE', '/keys/any')).status).toBe(403);
  expect((await act('POST', '/accounts', { id: 'of-an-actor' })).status).toBe(200);
  const own = await act('POST', '/operators', { name: 'friend' });
  expect([own.status, own.body.error.message]).toEqual([
    403,
    'The operator actor has the roles read, amounts, tasks, money, access, content, configuration. Only the holder of ADMIN_TOKEN may do this.',
  ]);
  expect((await act('DELETE', '/operators/reader')).status).toBe(403);
});

it('403 comes before the body is read', async () => {
  const read = await operator('early', 'read');
  expect((await read('POST', '/accounts', 'not json')).body.error.code).toBe('operator_not_allowed');
});

it('409: the name of another operator, or of the holder of ADMIN_TOKEN', async () => {
  await operator('twice', 'read');
  for (const name of ['twice', 'admin']) {
    const again = await world.admin('POST', '/operators', { name });
    expect([again.status, again.body.error.code]).toEqual([409, 'operator_exists']);
  }
  const both = await Promise.all(['same', 'same'].map((name) => world.admin('POST', '/operators', { name })));
  expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409]);
});

it.each([
  [{ name: 'Anna' }, 'name'],
  [{ name: '' }, 'name'],
  [{ name: 'a b' }, 'name'],
  [{ name: 'x'.repeat(65) }, 'name'],
  [{}, 'name'],
  [{ name: 'x', roles: ['root'] }, 'roles[0]'],
  [{ name: 'x', roles: ['admin'] }, 'roles[0]'],
])('400: %j', async (body, param) => {
  const answer = await world.admin('POST', '/operators', body);
  expect([answer.status, answer.body.error.param]).toEqual([400, param]);
});

it.each([
  (token: string) => token.slice(0, -1),
  (token: string) => `${token.slice(0, -8)}00000000`,
  (token: string) => token.replace('op-', 'sk-'),
  () => `op-${'a'.repeat(43)}00000000`,
  () => '',
])('401 for a token that was never issued: %s', async (change) => {
  const { body } = await world.admin('POST', '/operators', { name: `typo-${Math.random()}`.toLowerCase() });
  const answer = await adminCaller(world.url, change(body.token))('GET', '/keys');
  expect([answer.status, answer.body.error.code]).toEqual([401, 'invalid_api_key']);
  expect(answer.body.error.message).toContain('operator');
  expect(answer.headers['www-authenticate']).toBe('Bearer');
});

it('ADMIN_TOKEN acts as admin', async () => {
  const { status } = await send(world.url, 'POST', '/admin/v1/channels/two', {
    key: adminToken,
    headers: { 'x-operator': 'eve' },
    body: { enabled: true },
  });
  expect(status).toBe(200);
  expect(world.deps.channelSwitches.find('two')?.by).toBe('admin');
});
