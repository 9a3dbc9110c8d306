import { existsSync, readFileSync } from 'node:fs';
import { Agent, request, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, Server } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { expect, it, vi } from 'vitest';
import { connectionsMaxOf } from '../../src/http/connections.ts';
import { startHttpServer } from '../../src/http/server.ts';
import { send } from '../support/client.ts';
import { useHttpWorld, videoBody } from '../support/http-world.ts';

const world = useHttpWorld('http_server');

const atOnceMs = 29_000;
const somaxconnFile = '/proc/sys/net/core/somaxconn';

it('a shutdown ends waiting requests at once and lets others finish', async () => {
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

it('a request that does not end in time is cut off', async () => {
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

it('a response that its caller reads slowly is sent to its end', async () => {
  const answer = Buffer.alloc(32 * 1024 * 1024, 'x');
  const app = {
    callback: () => (_request: IncomingMessage, response: ServerResponse) => void response.end(answer),
    drain: () => {},
  };
  const server = await startHttpServer({ app, host: '127.0.0.1', port: 0 });
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request(server.url, { agent: new Agent({ keepAlive: true }) }, resolve)
      .on('error', reject)
      .end();
  });
  const closed = server.close(60_000);
  expect((await buffer(response)).length).toBe(answer.length);
  await closed;
});

it('an idle connection does not delay the stop', async () => {
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

const headersOf = (path: string) => `GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`;
const posted = 'POST /first HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\n\r\nx';

async function echoing() {
  const app = {
    callback: () => (asked: IncomingMessage, response: ServerResponse) =>
      void asked.resume().on('end', () => response.end(`path ${asked.url}.`)),
    drain: () => {},
  };
  const server = await startHttpServer({ app, host: '127.0.0.1', port: 0 });
  const socket = connect({ host: '127.0.0.1', port: Number(new URL(server.url).port) });
  let received = '';
  socket.setEncoding('utf8').on('data', (text: string) => (received += text));
  socket.on('error', () => undefined);
  const accepted = () => send(server.url, 'GET', '/other');
  await accepted();
  const answered = (path: string) => expect.poll(() => received).toContain(`path ${path}.`);
  return { server, socket, accepted, answered };
}

it.each([
  ['on a new connection', '', headersOf('/last')],
  ['that has arrived in part', `${headersOf('/first')}GET /la`, headersOf('/last').slice('GET /la'.length)],
])('a request %s when the stop begins is answered', async (_, before, after) => {
  const { server, socket, answered } = await echoing();
  if (before !== '') {
    socket.write(before);
    await answered('/first');
  }
  const closed = server.close(60_000);
  socket.write(after);
  await answered('/last');
  await expect(closed).resolves.toBeUndefined();
});

it.each([
  ['no request', '', ''],
  ['a line end after its last body', posted, '\r\n'],
  ['a part of its first request', '', 'GET /'],
  ['a part of its next request', posted, 'GET /'],
])('a connection with %s does not delay the stop', async (_, before, after) => {
  const { server, socket, accepted, answered } = await echoing();
  if (before !== '') {
    socket.write(before);
    await answered('/first');
  }
  socket.write(after);
  await accepted();
  await expect(server.close(2_147_483_647)).resolves.toBeUndefined();
  socket.destroy();
});

it('as many connections may wait in the system as a process may have', async () => {
  const listen = vi.spyOn(Server.prototype, 'listen');
  const app = { callback: () => () => {}, drain: () => {} };
  const server = await startHttpServer({ app, host: '127.0.0.1', port: 0 });
  const [options] = listen.mock.calls.at(-1) ?? [];
  listen.mockRestore();
  await server.close(0);
  expect(options).toMatchObject({ backlog: connectionsMaxOf(undefined) });
});

/** Linux's code for the state of a connection that has sent a SYN but got no response. */
const synSent = '02';
const somaxconn = existsSync(somaxconnFile) ? Number(readFileSync(somaxconnFile, 'utf8')) : 0;

it.skipIf(somaxconn < 1_024)(
  'a caller that opens many connections within one turn of the event loop delays none that opens one after it',
  async () => {
    const app = { callback: () => () => {}, drain: () => {} };
    const server = await startHttpServer({ app, host: '127.0.0.1', port: 0 });
    const port = Number(new URL(server.url).port);
    const sockets = Array.from({ length: 700 }, () =>
      connect({ host: '127.0.0.1', port }).on('error', () => undefined),
    );
    const hexPort = port.toString(16).toUpperCase().padStart(4, '0');
    const unanswered = (): number =>
      readFileSync('/proc/net/tcp', 'latin1')
        .split('\n')
        .map((line) => line.trim().split(/\s+/))
        .filter(([, , remote, state]) => remote?.endsWith(`:${hexPort}`) === true && state === synSent)
        .length;
    await new Promise((resolve) => process.nextTick(resolve));
    // Blocks the event loop, so that the server cannot accept connections in the meantime.
    const pause = new Int32Array(new SharedArrayBuffer(4));
    for (let looks = 0; unanswered() > 0 && looks < 100; looks += 1) Atomics.wait(pause, 0, 0, 50);
    expect(unanswered()).toBe(0);
    for (const socket of sockets) socket.destroy();
    await server.close(0);
  },
);

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
