import { expect, it } from 'vitest';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_list_channels');

it('all of them, without secrets', async () => {
  const { body, text } = await world.admin('GET', '/channels');
  expect(body.data).toHaveLength(3);
  expect(body.data[2]).toMatchObject({
    object: 'channel',
    id: 'three',
    provider: 'test',
    enabled: true,
    configured: true,
    switch: null,
    credentials: ['c'],
    models: ['other'],
  });
  expect(text).not.toMatch(/api_key|127\.0\.0\.1/);
});
