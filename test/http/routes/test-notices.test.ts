import { expect, it } from 'vitest';
import { adminCaller } from '../../support/client.ts';
import { adminToken, useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_test_notices');

it('reports for each target whether it accepted the message', async () => {
  const node = await world.startNode({
    testNotices: () =>
      Promise.resolve([{ id: 'mail' }, { id: 'pager', error: 'the endpoint responded with 503' }]),
  });
  const { body } = await adminCaller(node.url, adminToken)('POST', '/notices/test');
  expect(body).toEqual({
    object: 'list',
    data: [
      { id: 'mail', ok: true, error: null },
      { id: 'pager', ok: false, error: 'the endpoint responded with 503' },
    ],
  });
});

it('is empty without targets, and forbidden to operators who may only read', async () => {
  expect((await world.admin('POST', '/notices/test')).body.data).toEqual([]);
  const { token } = (await world.admin('POST', '/operators', { name: 'grafana', roles: ['read'] })).body;
  expect((await adminCaller(world.url, token)('POST', '/notices/test')).status).toBe(403);
});
