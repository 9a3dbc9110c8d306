import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { answerInTurn } from '../../src/http/answer-in-turn.ts';
import { connectionsMaxOf } from '../../src/http/connections.ts';
import { createApp } from '../../src/http/app.ts';
import { startHttpServer } from '../../src/http/server.ts';
import { testEnvironment, testYaml } from '../support/gateway.ts';
import { send, type Call } from '../support/client.ts';
import { useHttpWorld, videoBody } from '../support/http-world.ts';
import { loadsTypeScript } from '../support/typescript.ts';

const world = useHttpWorld('http_hostile_callers');
const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

interface CarelessSocket extends Socket {
  received: string;
  ended: Promise<void>;
}

/** Behaves like a careless client: the connection stays half open when the server closes its side. */
async function open(url: string): Promise<CarelessSocket> {
  const { hostname, port } = new URL(url);
  const bare = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  const ended = new Promise<void>((resolve) => bare.once('end', resolve).once('close', () => resolve()));
  const socket = Object.assign(bare, { received: '', ended });
  sockets.push(socket);
  socket.on('data', (chunk) => (socket.received += chunk.toString()));
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

async function sendText(url: string, text: string, until = /\r\n\r\n[^]*\}$/): Promise<string> {
  const socket = await open(url);
  socket.write(text);
  await expect.poll(() => until.test(socket.received)).toBe(true);
  return socket.received;
}

const create = (key: string, rest: string) =>
  `POST /v1/videos/generations HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\n${rest}`;

describe('bodies in memory', () => {
  const unlimited = { addressRequestsPerSecond: 0, uploadBytesPerSecondMin: 1 };
  const large = { ...videoBody, unknown: 'x'.repeat(600_000) };

  const post = (node: { readonly call: Call }, key: string) =>
    node.call('POST', '/v1/videos/generations', { key, body: large });

  async function stall(url: string, key: string, bytes: number): Promise<CarelessSocket> {
    const socket = await open(url);
    socket.write(create(key, `content-length: 1000000\r\n\r\n{"prompt":"${'x'.repeat(bytes - 11)}`));
    return socket;
  }

  const piece = 'x'.repeat(0x10000);
  const chunk = `10000\r\n${piece}\r\n`;

  it('the bytes of one account are limited, and counted as they arrive', async () => {
    const node = await world.startNode({ limits: { ...unlimited, bodiesBytesMax: 2_000_000 } });
    const { key } = await world.newAccount();
    const answer = await sendText(
      node.url,
      create(key, `transfer-encoding: chunked\r\n\r\n${chunk.repeat(3)}`),
    );
    expect(answer).toMatch(/^HTTP\/1\.1 429 [^]*"code":"rate_limit_exceeded"/);
    expect(answer).toMatch(/\r\nretry-after: 2\r\n/);
    expect((await node.call('POST', '/v1/videos/generations', { key, body: videoBody })).status).toBe(200);
  });

  it('announced bytes that never arrive do not affect others', async () => {
    const node = await world.startNode({ limits: { ...unlimited, bodiesBytesMax: 4_000_000 } });
    const [greedy, other] = [await world.newAccount(), await world.newAccount()];
    const stalled = await Promise.all(Array.from({ length: 4 }, () => stall(node.url, greedy.key, 1_000)));
    expect(
      (await node.call('POST', '/v1/videos/generations', { key: other.key, body: videoBody })).status,
    ).toBe(200);
    for (const socket of stalled) socket.destroy();
  });

  it('the largest holder makes room for a newcomer', async () => {
    const node = await world.startNode({ limits: { ...unlimited, bodiesBytesMax: 4_000_000 } });
    const greedy = await world.newAccount();
    const stalled = [await stall(node.url, greedy.key, 120_000), await stall(node.url, greedy.key, 100_000)];
    const other = await world.newAccount();
    const body = { ...videoBody, unknown: 'x'.repeat(60_000) };
    // The server may read the newcomer's bytes before those that were sent earlier, so poll.
    await expect
      .poll(async () => {
        const { status } = await node.call('POST', '/v1/videos/generations', { key: other.key, body });
        return [status, stalled.filter(({ received }) => received !== '').length];
      })
      .toEqual([200, 1]);
    expect(stalled[0]?.received).toMatch(/^HTTP\/1\.1 503 [^]*"code":"service_unavailable"/);
    for (const socket of stalled) socket.destroy();
  });

  it('a stalled upload is cut off', async () => {
    const node = await world.startNode({ limits: { ...unlimited, uploadBytesPerSecondMin: 1_000 } });
    const { key } = await world.newAccount();
    const socket = await stall(node.url, key, 12);
    await socket.ended;
    expect(socket.received).toMatch(/^HTTP\/1\.1 408 [^]*"code":"request_timeout"/);
    expect((await post(node, key)).status).toBe(200);
  });

  it('a body in pieces of one byte is rejected before it has arrived, and its connection is closed', async () => {
    const { key } = await world.newAccount();
    const socket = await open(world.url);
    socket.write(create(key, `transfer-encoding: chunked\r\n\r\n${'1\r\n \r\n'.repeat(100_000)}`));
    await socket.ended;
    expect(socket.received).toMatch(/^HTTP\/1\.1 413 [^]*connection: close[^]*too many pieces/i);
  });

  it.each([
    ['an address without a token', '/callbacks/upstream/task_0123456789abcdefghijkl/x', '', 404],
    ['no key', '/v1/videos/generations', '', 401],
  ])('%s: rejected before its body is read', async (_name, path, header, status) => {
    const socket = await open(world.url);
    socket.write(`POST ${path} HTTP/1.1\r\nhost: x\r\n${header}transfer-encoding: chunked\r\n\r\n1\r\n \r\n`);
    await socket.ended;
    expect(socket.received).toMatch(new RegExp(`^HTTP/1\\.1 ${status} [^]*connection: close`, 'i'));
  });
});

describe('one connection', () => {
  it('processes one request at a time, in order', async () => {
    const begun: string[] = [];
    const ends: (() => void)[] = [];
    const node = await world.startNode({
      createTask: async (command) => {
        begun.push(command.request.prompt);
        await new Promise<void>((resolve) => ends.push(resolve));
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
    const { key } = await world.newAccount();
    const socket = await open(node.url);
    const post = (prompt: string, isChunked: boolean) => {
      const body = JSON.stringify({ ...videoBody, prompt });
      return isChunked
        ? create(key, `transfer-encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`)
        : create(key, `content-length: ${body.length}\r\n\r\n${body}`);
    };
    const all = `${post('one', false)}${post('two', false)}GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n${post('three', true)}`;
    // Cuts the data at arbitrary points, even within header endings.
    for (let at = 0; at < all.length; at += 61) socket.write(all.slice(at, at + 61));
    for (const [n, prompt] of ['one', 'two', 'three'].entries()) {
      await expect.poll(() => begun).toHaveLength(n + 1);
      expect(begun.at(-1)).toBe(prompt);
      await expect.poll(() => socket.received.match(/HTTP\/1\.1 200/g)?.length ?? 0).toBe(n === 2 ? 3 : n);
      ends[n]?.();
    }
    await expect.poll(() => socket.received.match(/HTTP\/1\.1 200/g)).toHaveLength(4);
  });

  it('that sends a thousand requests at once does not delay others', async () => {
    const node = await world.startNode();
    const socket = await open(node.url);
    // Do not collect the responses, because together they exceed the maximum length of a string.
    socket.removeAllListeners('data');
    socket.write('GET /openapi.json HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(1_000));
    const line = 'HTTP/1.1 200';
    let answered = 0;
    let rest = '';
    socket.on('data', (bytes: Buffer) => {
      const text = rest + bytes.toString('latin1');
      answered += text.split(line).length - 1;
      rest = text.slice(-(line.length - 1));
    });
    expect((await node.call('GET', '/healthz')).status).toBe(200);
    expect(answered).toBeLessThan(500);
    await expect.poll(() => answered).toBe(1_000);
  });

  it('is cut off if it has the most pending bytes when all have too many, and no other', async () => {
    const waiting: ServerResponse[] = [];
    const server = createServer((_request, response) => void waiting.push(response));
    answerInTurn(server, 10_000);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const get = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n';
    const [greedy, modest, plain] = [await open(url), await open(url), await open(url)];
    greedy.write(get + 'x'.repeat(9_000));
    await expect.poll(() => waiting).toHaveLength(1);
    modest.write(get + 'x'.repeat(3_000));
    plain.write(get);
    await greedy.ended;
    expect(greedy.received).toBe('');
    await expect.poll(() => waiting).toHaveLength(3);
    for (const response of waiting) response.end('late');
    await Promise.all([modest, plain].map((socket) => expect.poll(() => socket.received).toContain('late')));
    server.closeAllConnections();
    server.close();
  });

  it('several that send everything at once are handled in separate turns of the event loop', async () => {
    let turns = 0;
    const turn = (): void => {
      turns += 1;
      ticking = setImmediate(turn);
    };
    let ticking = setImmediate(turn);
    const seen: number[] = [];
    const server = createServer((request, response) => {
      request.on('data', () => {
        const endsAt = performance.now() + 10;
        while (performance.now() < endsAt);
        seen.push(turns);
      });
      request.on('end', () => response.end());
    });
    answerInTurn(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    let accepted = 0;
    server.on('connection', () => (accepted += 1));
    const sockets = await Promise.all(Array.from({ length: 20 }, () => open(url)));
    await expect.poll(() => accepted).toBe(sockets.length);
    for (const socket of sockets) socket.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\n\r\nbody');
    await expect.poll(() => seen.length).toBe(sockets.length);
    clearImmediate(ticking);
    expect(new Set(seen).size).toBeGreaterThan(sockets.length / 2);
    server.closeAllConnections();
    server.close();
  });

  it('two keys in one request are treated as none', async () => {
    const { key } = await world.newAccount();
    const header = `authorization: Bearer ${key}\r\n`;
    const answer = await sendText(world.url, `GET /v1/balance HTTP/1.1\r\nhost: x\r\n${header}${header}\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 400 [^]*more than one Authorization/);
  });
});

describe('malformed chunks', () => {
  /** The server answers this header when it starts to read the body. */
  const continued = 'expect: 100-continue\r\n';
  const goOn = 'HTTP/1.1 100 Continue\r\n\r\n';
  const chunked = 'transfer-encoding: chunked\r\n\r\n5\r\n{"a":\r\nZZ\r\n';

  it.each([
    ['an open route', 'POST /callbacks/upstream/task_0123456789abcdefghijkl/x HTTP/1.1\r\nhost: x\r\n'],
    ['without a key', 'POST /v1/videos/generations HTTP/1.1\r\nhost: x\r\n'],
  ])('%s: 4xx, and not logged as our failure', async (_name, head) => {
    const lines = world.logLines.length;
    const answer = await sendText(world.url, head + chunked);
    expect(answer).toMatch(/^HTTP\/1\.1 40[014] /);
    expect(answer.match(/HTTP\/1\.1/g)).toHaveLength(1);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(world.logLines.slice(lines).filter((line) => line.includes('a request failed'))).toEqual([]);
  });

  it('with a key, after a part of the body', async () => {
    const { url } = await world.startNode({ limits: { uploadBytesPerSecondMin: 0 } });
    const { key } = await world.newAccount();
    const lines = world.logLines.length;
    const socket = await open(url);
    socket.write(create(key, `${continued}transfer-encoding: chunked\r\n\r\n`));
    await expect.poll(() => socket.received).toBe(goOn);
    socket.write('5\r\n{"a":\r\n');
    await new Promise((resolve) => setTimeout(resolve, 100));
    socket.write('ZZ\r\n');
    await socket.ended;
    expect(socket.received.slice(goOn.length)).toMatch(/^HTTP\/1\.1 400 /);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(world.logLines.slice(lines).filter((line) => line.includes('a request failed'))).toEqual([]);
  });

  it('a caller who disconnects in the middle of a body is not our failure', async () => {
    const { key } = await world.newAccount();
    const lines = world.logLines.length;
    const socket = await open(world.url);
    socket.write(create(key, `${continued}content-length: 1000\r\n\r\n`));
    await expect.poll(() => socket.received).toBe(goOn);
    socket.write('{"a":', () => socket.destroy());
    await expect
      .poll(() => world.logLines.slice(lines).some((line) => line.includes('"operation":"createVideo"')))
      .toBe(true);
    expect(world.logLines.slice(lines).filter((line) => line.includes('a request failed'))).toEqual([]);
  });
});

describe('headers that HTTP does not allow get the common error body', () => {
  it.each([
    ['no Host', 400, 'GET /healthz HTTP/1.1\r\n\r\n'],
    ['two Hosts', 400, 'GET /healthz HTTP/1.1\r\nHost: a\r\nhost: b\r\n\r\n'],
    ['an expectation', 417, 'GET /healthz HTTP/1.1\r\nhost: a\r\nexpect: a-miracle\r\n\r\n'],
  ])('%s: %d', async (_name, status, text) => {
    const answer = await sendText(world.url, text);
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(answer).toMatch(/\r\nx-request-id: \S+/);
    expect(JSON.parse(answer.slice(answer.indexOf('{')))).toMatchObject({
      error: { type: 'invalid_request_error', param: '', code: '', message: expect.stringMatching(/\w/) },
    });
  });

  it('HTTP/1.0 needs no Host, and 100-continue works', async () => {
    expect(await sendText(world.url, 'GET /healthz HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 /);
    const { key } = await world.newAccount();
    const body = JSON.stringify(videoBody);
    const answer = await sendText(
      world.url,
      create(key, `expect: 100-continue\r\ncontent-length: ${body.length}\r\n\r\n${body}`),
    );
    expect(answer).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 /);
  });
});

describe('connections', () => {
  const startServer = async (options: { connectionsMax?: number; headersTimeoutMs?: number }) => {
    const server = await startHttpServer({
      app: createApp(world.deps),
      host: '127.0.0.1',
      port: 0,
      ...options,
    });
    return { url: server.url, close: () => server.close(0) };
  };

  it('a silent one is answered with 408, and destroyed although the caller keeps its half open', async () => {
    const server = await startServer({ headersTimeoutMs: 300 });
    const idle = await Promise.all(Array.from({ length: 10 }, () => open(server.url)));
    await Promise.all(idle.map(({ ended }) => ended));
    for (const socket of idle) {
      expect(socket.received).toMatch(/^HTTP\/1\.1 408 [^]*"code":"request_timeout"/);
      const closed = new Promise((resolve) => socket.once('close', resolve));
      const writing = setInterval(() => socket.write('x'), 50);
      await closed;
      clearInterval(writing);
    }
    await server.close();
  });

  it('idle ones make room for new ones, starting with those without a request', async () => {
    const server = await startServer({ connectionsMax: 10 });
    const used = await open(server.url);
    used.write('GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n');
    await expect.poll(() => used.received).toContain('200 OK');
    for (let n = 0; n < 30; n += 1) await open(server.url);
    expect((await send(server.url, 'GET', '/healthz')).status).toBe(200);
    used.received = '';
    used.write('GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n');
    await expect.poll(() => used.received).toContain('200 OK');
    await server.close();
  });

  it('a stranger who occupies all of them leaves room for callers and for health checks', async () => {
    const slow = new Promise<void>(() => undefined);
    const app = createApp({ ...world.deps, pingMongo: () => slow });
    const server = await startHttpServer({ app, host: '127.0.0.1', port: 0, connectionsMax: 8 });
    const { key } = await world.newAccount();
    const callers: CarelessSocket[] = [];
    for (let n = 0; n < 3; n += 1) {
      const caller = await open(server.url);
      callers.push(caller);
      caller.write(`GET /v1/models HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n\r\n`);
      await expect.poll(() => caller.received).toContain('200 OK');
    }
    const busy: CarelessSocket[] = [];
    for (let n = 0; n < 20; n += 1) busy.push(await open(server.url));
    for (const socket of busy) socket.write('GET /readyz HTTP/1.1\r\nhost: x\r\n\r\n');
    let gone = 0;
    for (const { ended } of busy) void ended.then(() => (gone += 1));
    await expect.poll(() => gone).toBe(18);
    for (const caller of callers) {
      caller.received = '';
      caller.write('GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n');
      await expect.poll(() => caller.received).toContain('200 OK');
    }
    expect(gone).toBe(18);
    expect((await send(server.url, 'GET', '/healthz')).status).toBe(200);
    expect((await send(server.url, 'GET', '/v1/models', { key })).status).toBe(200);
    await server.close(0);
  });

  it('one that reads its response too slowly is cut off', async () => {
    const server = await startHttpServer({
      app: createApp(world.deps),
      host: '127.0.0.1',
      port: 0,
      answerBytesPerSecondMin: 1_000_000_000,
    });
    const slow = await open(server.url);
    slow.pause();
    const ended = new Promise((resolve) => slow.once('close', resolve));
    slow.write('GET /openapi.json HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(40));
    // This client reads nothing, so it notices that the connection was closed only when a write fails.
    const nudge = setInterval(() => slow.write(' '), 100);
    await ended;
    clearInterval(nudge);
    expect(slow.received.match(/HTTP\/1\.1 200/g)?.length ?? 0).toBeLessThan(40);
    await server.close(0);
  });

  it('the limit leaves two thirds of the open files to what its responses are read from, and to the rest of the process', () => {
    expect([undefined, 512, 1_048_576, 1].map(connectionsMaxOf)).toEqual([8_192, 170, 8_192, 1]);
  });

  it('more idle ones than a service has files leave it healthy', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'mediary-idle-'));
    const config = join(directory, 'gateway.yaml');
    await writeFile(config, testYaml);
    // The limit must allow more than five hundred open files, because Node keeps that many program files open at a
    // time.
    const child = spawn(
      'sh',
      [
        '-c',
        'ulimit -n 1024; exec "$0" "$@"',
        process.execPath,
        ...loadsTypeScript,
        'test/images/api-process.ts',
      ],
      {
        cwd: fileURLToPath(new URL('../..', import.meta.url)),
        env: {
          PATH: process.env['PATH'],
          ...(await testEnvironment('thousand-idle', {
            GATEWAY_CONFIG: config,
            SIMULATOR_URL: 'http://127.0.0.1:1',
          })),
        },
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    try {
      const [line] = (await once(child.stdout, 'data')) as [Buffer];
      const url = line.toString().trim();
      for (let n = 0; n < 1_100; n += 1) await open(url);
      expect((await send(url, 'GET', '/healthz')).status).toBe(200);
      await expect.poll(async () => (await send(url, 'GET', '/readyz')).text).not.toContain('mongodb');
      expect((await send(url, 'GET', '/v1/models', { key: `sk-${'0'.repeat(51)}` })).status).toBe(401);
    } finally {
      child.kill('SIGKILL');
      await rm(directory, { recursive: true, force: true });
    }
  });
});
