import { Agent, request } from 'node:http';
import { expect, it } from 'vitest';
import { startHttpServer } from '../../src/http/server.ts';
import { send } from '../support/client.ts';
import { useHttpWorld, videoBody } from '../support/http-world.ts';

const world = useHttpWorld('http_server');

/** Below each time that is waited for otherwise: 30 s by a request, 50 s by a shutdown. */
const atOnceMs = 29_000;

it('going down answers waiting requests at once and lets others finish', async () => {
  let finish = (): void => {};
  const slow = new Promise<void>((resolve) => (finish = resolve));
  let isCreating = false;
  const node = await world.startNode({
    createTask: async (command) => {
      isCreating = true;
      await slow;
      return {
        id: 'task_1',
        model: command.request.model,
        createdAt: 0,
        warnings: [],
        hold: 1n,
        replayed: false,
      };
    },
  });
  const account = await world.newAccount();
  const { body } = await account.create();
  const waiting = node.call('GET', `/v1/videos/generations/${body.id}?wait=30`, { key: account.key });
  const creating = node.call('POST', '/v1/videos/generations', { key: account.key, body: videoBody });
  const isWaiting = async (): Promise<boolean> =>
    /^mediary_http_waiting_requests(?:\{[^}]*\})? 1$/m.test(await node.deps.metrics.render());
  await expect.poll(async () => isCreating && (await isWaiting())).toBe(true);
  const startedAt = Date.now();
  const closed = node.close(50_000);
  const answer = await waiting;
  expect([answer.status, answer.body.status]).toEqual([200, 'pending']);
  expect(Date.now() - startedAt).toBeLessThan(atOnceMs);
  await expect(send(node.url, 'GET', '/healthz')).rejects.toThrow('ECONNREFUSED');
  finish();
  expect((await creating).status).toBe(200);
  await closed;
  expect(Date.now() - startedAt).toBeLessThan(atOnceMs);
});

it('what does not end in time is cut off', async () => {
  let isCreating = false;
  const node = await world.startNode({
    createTask: () => {
      isCreating = true;
      return new Promise(() => {});
    },
  });
  const account = await world.newAccount();
  const creating = node.call('POST', '/v1/videos/generations', { key: account.key, body: videoBody });
  const outcome = creating.then(
    () => 'answered',
    (error: Error) => error.message,
  );
  await expect.poll(() => isCreating).toBe(true);
  await node.close(300);
  expect(await outcome).toMatch(/hang up|ECONNRESET/);
});

it('an idle connection does not keep the server', async () => {
  const node = await world.startNode();
  const agent = new Agent({ keepAlive: true });
  await new Promise((resolve, reject) => {
    request(`${node.url}/healthz`, { agent }, (response) => response.resume().on('end', resolve))
      .on('error', reject)
      .end();
  });
  const startedAt = Date.now();
  await node.close(50_000);
  agent.destroy();
  expect(Date.now() - startedAt).toBeLessThan(atOnceMs);
});

it('rejects when the address is taken', async () => {
  const port = Number(new URL(world.url).port);
  const app = { callback: () => () => {}, drain: () => {} };
  await expect(startHttpServer({ app, host: '127.0.0.1', port })).rejects.toThrow('EADDRINUSE');
});

it('the URL of an IPv6 address has brackets', async () => {
  const app = { callback: () => () => {}, drain: () => {} };
  const server = await startHttpServer({ app, host: '::1', port: 0 });
  expect(server.url).toMatch(/^http:\/\/\[::1\]:\d+$/);
  await server.close(0);
});
