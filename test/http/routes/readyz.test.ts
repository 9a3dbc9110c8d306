import { expect, it } from 'vitest';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_readyz');

it('200 while both servers respond', async () => {
  const answer = await world.call('GET', '/readyz');
  expect([answer.status, answer.body]).toEqual([200, { status: 'ready', warnings: [] }]);
});

it('503 without MongoDB, and says so', async () => {
  const node = await world.startNode({ pingMongo: () => Promise.reject(new Error('down')) });
  const answer = await node.call('GET', '/readyz');
  expect([answer.status, answer.body.error.message]).toEqual([503, 'Not ready: mongodb.']);
  expect(answer.headers['retry-after']).toBe('5');
});

it('without Temporal or a worker it still serves what it can, and warns', async () => {
  const [first, second] = await Promise.all([world.startNode(), world.startNode()]);
  world.port.notReady = new Error('down');
  const temporal = await first.call('GET', '/readyz');
  world.port.notReady = undefined;
  world.port.unpolled = ['tasks'];
  const worker = await second.call('GET', '/readyz');
  world.port.unpolled = [];
  expect([temporal.status, temporal.body.warnings]).toEqual([
    200,
    [{ duty: 'creates', message: 'Temporal does not respond.' }],
  ]);
  expect([worker.status, worker.body.warnings]).toEqual([
    200,
    [{ duty: 'tasks', message: 'No worker polls tasks.' }],
  ]);
});

it('unusable links are a warning', async () => {
  const message = 'PUBLIC_URL is not set.';
  const node = await world.startNode({ unreachableLinks: message });
  expect((await node.call('GET', '/readyz')).body.warnings).toEqual([{ duty: 'links', message }]);
});

it('a check that never ends is reported as failed too', async () => {
  const node = await world.startNode({ pingMongo: () => new Promise(() => {}) });
  expect((await node.call('GET', '/readyz')).status).toBe(503);
});

it('checks the servers at most four times a second, however often it is called', async () => {
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
  now += 249;
  expect([await ask(), asked]).toEqual([200, 1]);
  now += 1;
  expect([await ask(), asked]).toEqual([200, 2]);
});
