import { expect, it } from 'vitest';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_set_channel');

it('a channel that is switched off accepts no new tasks, here at once and elsewhere after the next refresh', async () => {
  const account = await world.newAccount();
  const node = await world.startNode();
  const off = await world.admin('POST', '/channels/three', { enabled: false, reason: 'maintenance' });
  expect(off.body).toMatchObject({
    enabled: false,
    configured: true,
    switch: { enabled: false, by: 'admin', reason: 'maintenance' },
  });
  const refused = await account.create({ model: 'other' });
  expect([refused.status, refused.body.error.code, refused.headers['retry-after']]).toEqual([
    503,
    'service_unavailable',
    '30',
  ]);
  await node.admin('GET', '/channels');
  expect(
    (
      await node.call('POST', '/v1/videos/generations', {
        key: account.key,
        body: { model: 'other', prompt: 'x' },
      })
    ).status,
  ).toBe(503);
  await world.admin('POST', '/channels/three', { enabled: true });
  expect((await account.create({ model: 'other' })).status).toBe(200);
});

it('404, 400', async () => {
  expect((await world.admin('POST', '/channels/none', { enabled: true })).body.error.code).toBe(
    'channel_not_found',
  );
  expect((await world.admin('POST', '/channels/one', {})).body.error.param).toBe('enabled');
});
