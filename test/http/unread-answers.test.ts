import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { useHttpWorld, type NodeChange } from '../support/http-world.ts';

/** A caller that does not read its response keeps what the request holds, so it cannot hold more by sending others. */

const world = useHttpWorld('http_unread_answers');
const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

/** More than the buffers of both sides of a connection. */
const answer = Buffer.alloc(64 * 1024 * 1024, 'x');
const body = JSON.stringify({ model: 'picture', prompt: 'x' });
/** Every body reserves this much, besides its bytes. */
const windowBytes = 64 * 1024;

const held: Readonly<Record<string, NonNullable<NodeChange['limits']>>> = {
  'its place among the requests of its key': { keyConcurrentRequests: 1 },
  // One account may use three quarters of the half that image bodies may use.
  'the memory of its body': { bodiesBytesMax: (windowBytes * 1.5) / (0.5 * 0.75) },
};

async function post(url: string, key: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) }).on('error', () => undefined);
  sockets.push(socket);
  const head = `host: x\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}`;
  socket.write(`POST /v1/images/generations HTTP/1.1\r\n${head}\r\n\r\n${body}`);
  await once(socket, 'readable');
  return socket;
}

async function statusOf(socket: Socket): Promise<number> {
  const [, status] = /^HTTP\/1\.1 (\d+)/.exec(String(socket.read())) ?? [];
  return Number(status);
}

describe.each(Object.entries(held))('a request whose response is not read keeps %s', (_what, limits) => {
  const images = () => ({
    ...world.deps.images,
    create: async () => ({
      kind: 'answer' as const,
      answer: { status: 200, parts: [answer], headers: {}, replayed: false },
    }),
  });

  it.each(['reads the rest', 'disconnects'])('until the caller %s', async (end) => {
    const node = await world.startNode({
      images: images(),
      limits: { addressRequestsPerSecond: 0, ...limits },
    });
    const { key } = await world.newAccount();
    const status = async () => statusOf(await post(node.url, key));
    const unread = await post(node.url, key);
    expect(await status()).toBe(429);
    if (end === 'disconnects') unread.destroy();
    else unread.resume();
    await expect.poll(status).toBe(200);
  });
});
