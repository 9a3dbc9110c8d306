import { expect, it } from 'vitest';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_readyz');

it('200 while both servers answer', async () => {
  const answer = await world.call('GET', '/readyz');
  expect([answer.status, answer.body]).toEqual([200, { status: 'ready' }]);
});

it('names what is missing', async () => {
  world.clock.aheadMs += 1_000;
  world.port.notReady = new Error('no worker');
  const node = await world.startNode({ pingMongo: () => Promise.reject(new Error('down')) });
  const [temporal, both] = await Promise.all([world.call('GET', '/readyz'), node.call('GET', '/readyz')]);
  world.port.notReady = undefined;
  world.clock.aheadMs = 0;
  expect([temporal.status, temporal.body.error.message]).toEqual([503, 'Not ready: temporal.']);
  expect([both.status, both.body.error.message]).toEqual([503, 'Not ready: mongodb, temporal.']);
  expect(both.headers['retry-after']).toBe('5');
});

it('a check that never ends is missing too', async () => {
  const node = await world.startNode({ pingMongo: () => new Promise(() => {}) });
  expect((await node.call('GET', '/readyz')).status).toBe(503);
});

it('asks the servers once a second, however often it is asked', async () => {
  let asked = 0;
  let now = 1_000_000;
  const node = await world.startNode({
    now: () => now,
    pingMongo: async () => {
      asked += 1;
      await new Promise((resolve) => setTimeout(resolve, 50));
    },
  });
  const ask = async () => (await node.call('GET', '/readyz')).status;
  expect(await Promise.all([ask(), ask(), ask()])).toEqual([200, 200, 200]);
  now += 999;
  expect([await ask(), asked]).toEqual([200, 1]);
  now += 1;
  expect([await ask(), asked]).toEqual([200, 2]);
});
