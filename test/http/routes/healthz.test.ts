import { expect, it } from 'vitest';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_healthz');

it('responds whatever state its servers are in', async () => {
  const node = await world.startNode({ pingMongo: () => Promise.reject(new Error('down')) });
  world.port.notReady = new Error('no worker');
  const answer = await node.call('GET', '/healthz');
  world.port.notReady = undefined;
  expect([answer.status, answer.body]).toEqual([200, { status: 'ok' }]);
});
