import { expect, it } from 'vitest';
import { caller } from '../../support/client.ts';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_rotate_key');

const balance = async (url: string, key: string) => (await caller(url, key)('GET', '/v1/balance')).status;

it('both are valid until the old one ends, then only the new one', async () => {
  const restrictions = { models: ['clip'], requests_per_minute: 100, concurrent_tasks: 5 };
  const account = await world.newAccount({ key: restrictions });
  const node = await world.startNode();
  expect(await balance(node.url, account.key)).toBe(200);
  const rotated = await world.admin('POST', `/keys/${account.keyId}/rotate`, {
    old_valid_seconds: 60,
    reason: 'leaked',
  });
  expect(rotated.body).toMatchObject({
    object: 'key',
    account: account.id,
    name: 'test',
    replaces: account.keyId,
    expires_at: null,
    ...restrictions,
    key: expect.stringMatching(/^sk-/),
    changes: [{ by: 'admin', action: `created to replace ${account.keyId}`, reason: 'leaked' }],
  });
  const { id, key, old_ends_at } = rotated.body;
  expect([await balance(world.url, account.key), await balance(world.url, key)]).toEqual([200, 200]);
  const listed = (await world.admin('GET', `/keys?account=${account.id}`)).body.data;
  expect(listed.find((row: { id: string }) => row.id === account.keyId)).toMatchObject({
    replaced_by: id,
    expires_at: expect.any(Number),
    changes: [{ action: 'created' }, { by: 'admin', action: `replaced by ${id}`, reason: 'leaked' }],
  });
  world.clock.aheadMs += old_ends_at * 1000 - (Date.now() + world.clock.aheadMs) + 1;
  for (const { url } of [world, node])
    expect([await balance(url, account.key), await balance(url, key)]).toEqual([401, 200]);
});

it('at once, if asked to: here, and within 5 s elsewhere', async () => {
  const account = await world.newAccount();
  const node = await world.startNode();
  expect(await balance(node.url, account.key)).toBe(200);
  const { key } = (
    await world.admin('POST', `/keys/${account.keyId}/rotate`, { old_valid_seconds: 0, reason: 'leaked' })
  ).body;
  expect([await balance(world.url, account.key), await balance(world.url, key)]).toEqual([401, 200]);
  world.clock.aheadMs += 5_000;
  expect(await balance(node.url, account.key)).toBe(401);
});

it('both share the limits of one', async () => {
  const account = await world.newAccount({ key: { concurrent_tasks: 1, requests_per_minute: 50 } });
  const { key } = (await world.admin('POST', `/keys/${account.keyId}/rotate`, { reason: 'due' })).body;
  const first = await account.create();
  expect(first.status).toBe(200);
  const asNew = caller(world.url, key);
  const second = await asNew('POST', '/v1/videos/generations', { body: { model: 'clip', prompt: 'x' } });
  expect([second.status, second.body.error.code]).toEqual([429, 'concurrency_limit_exceeded']);
  const left = async (call: typeof asNew) =>
    Number((await call('GET', '/v1/balance')).headers['x-ratelimit-remaining-requests']);
  const before = await left(account.call);
  expect([before - 1, 49]).toContain(await left(asNew));
});

it('a key that expires keeps its end, and so does its successor', async () => {
  const expires = Math.floor(Date.now() / 1000) + 3600;
  const account = await world.newAccount({ key: { expires_at: expires } });
  const rotated = await world.admin('POST', `/keys/${account.keyId}/rotate`, { reason: 'due' });
  expect(rotated.body).toMatchObject({ expires_at: expires, old_ends_at: expires });
});

it('a chain of rotations: only the newest can be replaced', async () => {
  const account = await world.newAccount();
  const rotate = (id: string) => world.admin('POST', `/keys/${id}/rotate`, { reason: 'due' });
  const second = (await rotate(account.keyId)).body;
  const again = await rotate(account.keyId);
  expect([again.status, again.body.error.code]).toEqual([409, 'action_not_possible']);
  expect(again.body.error.message).toContain(`replaced by ${second.id}. Rotate that one instead.`);
  expect(again.body.error.message).toContain(second.id);
  const third = (await rotate(second.id)).body;
  expect(await balance(world.url, third.key)).toBe(200);
  await world.admin('DELETE', `/keys/${third.id}`);
  expect((await rotate(third.id)).body.error.message).toContain('was revoked');
});

it('two rotations at once: one new key', async () => {
  const account = await world.newAccount();
  const both = await Promise.all(
    [1, 2].map(() => world.admin('POST', `/keys/${account.keyId}/rotate`, { reason: 'due' })),
  );
  expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409]);
  expect((await world.admin('GET', `/keys?account=${account.id}`)).body.data).toHaveLength(2);
});

it('404, 400', async () => {
  expect((await world.admin('POST', '/keys/none/rotate', { reason: 'due' })).body.error.code).toBe(
    'key_not_found',
  );
  const { keyId } = await world.newAccount();
  const rotate = async (body: object) =>
    (await world.admin('POST', `/keys/${keyId}/rotate`, body)).body.error;
  expect((await rotate({})).param).toBe('reason');
  expect((await rotate({ reason: 'x', old_valid_seconds: -1 })).param).toBe('old_valid_seconds');
});
