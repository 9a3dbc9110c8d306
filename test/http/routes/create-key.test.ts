import { expect, it } from 'vitest';
import { adminCaller } from '../../support/client.ts';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_create_key');

it('shows the key once, with its permissions', async () => {
  const { id } = await world.newAccount();
  const wishes = {
    account: id,
    name: 'build server',
    models: ['clip'],
    channels: ['one'],
    requests_per_minute: 60,
    concurrent_tasks: 3,
    asset_urls: false,
    strict: false,
    end_user_required: false,
    scopes: ['create', 'manage'],
    addresses: ['203.0.113.0/24'],
    routes: ['createVideo'],
    duration_max: 5,
    resolution_max: '720p',
    expires_at: Math.floor(Date.now() / 1000) + 3_600,
  };
  const made = await world.admin('POST', '/keys', wishes);
  const { key, ...rest } = made.body;
  expect(key).toMatch(/^sk-[0-9A-Za-z]{51}$/);
  expect(rest).toEqual({
    object: 'key',
    id: expect.stringMatching(/^key_/),
    prefix: key.slice(0, 8),
    caps: null,
    link_expires_at: null,
    revoked_at: null,
    last_used_at: null,
    replaced_by: null,
    created_at: expect.any(Number),
    changes: [{ at: expect.any(Number), by: 'admin', action: 'created', reason: '' }],
    ...wishes,
  });
});

it('the key works at once, and may do what its fields permit', async () => {
  const { id } = await world.newAccount();
  const { body } = await world.admin('POST', '/keys', { account: id, models: ['plain'] });
  const models = await world.call('GET', '/v1/models', { key: body.key });
  expect([models.status, models.body.data.map((model: { id: string }) => model.id)]).toEqual([
    200,
    ['plain'],
  ]);
});

it('sets its caps at once, for operators who may', async () => {
  const { id: account } = await world.newAccount();
  const caps = { day: '5', models: [{ model: 'clip', total: '50.5' }] };
  const { body } = await world.admin('POST', '/keys', { account, caps });
  expect((await world.stores.keys.find(body.id))?.caps?.all.day).toBe(5_000_000n);
  expect(body.caps).toMatchObject({ day: '5.000000', models: [{ model: 'clip', total: '50.500000' }] });
  const wrong = { models: [{ model: 'none' }] };
  const refused = await world.admin('POST', '/keys', { account, caps: wrong });
  expect([refused.status, refused.body.error.param]).toEqual([400, 'caps.models[0].model']);
  const { body: giver } = await world.admin('POST', '/operators', { name: 'giver', roles: ['access'] });
  const lacks = await adminCaller(world.url, giver.token)('POST', '/keys', { account, caps });
  expect([lacks.status, lacks.body.error.code]).toEqual([403, 'operator_not_allowed']);
});

it('404: unknown account', async () => {
  const answer = await world.admin('POST', '/keys', { account: 'none' });
  expect([answer.status, answer.body.error.code]).toEqual([404, 'account_not_found']);
});

it.each([
  [{}, 'missing_parameter', 'account'],
  [{ models: [] }, 'invalid_parameter', 'models'],
  [{ models: 'clip' }, 'invalid_parameter', 'models'],
  [{ models: ['clip', 'clop'] }, 'invalid_parameter', 'models[1]'],
  [{ channels: ['won'] }, 'invalid_parameter', 'channels[0]'],
  [{ models: ['clip', 5] }, 'invalid_parameter', 'models[1]'],
  [{ requests_per_minute: 0 }, 'invalid_parameter', 'requests_per_minute'],
  [{ concurrent_tasks: 1.5 }, 'invalid_parameter', 'concurrent_tasks'],
  [{ expires_at: 1 }, 'invalid_parameter', 'expires_at'],
  [{ scopes: [] }, 'invalid_parameter', 'scopes'],
  [{ scopes: ['admin'] }, 'invalid_parameter', 'scopes[0]'],
  [{ addresses: ['here'] }, 'invalid_parameter', 'addresses[0]'],
  [{ routes: ['createKey'] }, 'invalid_parameter', 'routes[0]'],
  [{ duration_max: 0 }, 'invalid_parameter', 'duration_max'],
  [{ resolution_max: 'large' }, 'invalid_parameter', 'resolution_max'],
])('400: %j', async (body, code, param) => {
  const { id } = await world.newAccount();
  const answer = await world.admin(
    'POST',
    '/keys',
    code === 'missing_parameter' ? body : { account: id, ...body },
  );
  expect([answer.status, answer.body.error]).toEqual([400, expect.objectContaining({ code, param })]);
  if (param === 'channels[0]')
    expect(answer.body.error.message).toBe('The configuration has no channel won.');
});
