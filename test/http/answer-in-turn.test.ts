import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { answerInTurn, isHeldBack } from '../../src/http/answer-in-turn.ts';

const servers: Server[] = [];
const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function connected(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const server = createServer(answer);
  servers.push(server);
  answerInTurn(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  const caller = connect({ host: '127.0.0.1', port: (server.address() as AddressInfo).port, noDelay: true });
  caller.on('error', () => undefined);
  sockets.push(caller);
  const received: string[] = [];
  caller.on('data', (bytes) => received.push(bytes.toString('latin1')));
  const [peer] = await accepted;
  return {
    received: () => received.join(''),
    send: async (text: string): Promise<void> => {
      const all = peer.bytesRead + text.length;
      caller.write(text);
      await expect.poll(() => peer.bytesRead).toBe(all);
    },
  };
}

it.each([1, 2, 3])('headers whose end lies across two packets (%i of 4 bytes) end there', async (bytes) => {
  const begun: string[] = [];
  const { send, received } = await connected(({ url = '' }, response) => {
    begun.push(url);
    response.end(`at ${url};`);
  });
  const get = (path: string) => `GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`;
  const cut = get('/one').length - 4 + bytes;
  const all = get('/one') + get('/two');
  await send(all.slice(0, cut));
  await send(all.slice(cut));
  await expect.poll(received).toMatch(/at \/one;[^]*at \/two;/);
  expect(begun).toEqual(['/one', '/two']);
});

it('a body is not parsed before it is read', async () => {
  const begun: IncomingMessage[] = [];
  const { send, received } = await connected((request, response) => {
    begun.push(request);
    request.once('end', () => response.end('read'));
  });
  await send('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 8\r\n\r\n');
  await expect.poll(() => begun).toHaveLength(1);
  const [request] = begun;
  await send('in a ');
  expect([request?.readableLength, request && isHeldBack(request)]).toEqual([0, true]);
  request?.resume();
  await expect.poll(() => request && isHeldBack(request)).toBe(false);
  await send('row');
  await expect.poll(received).toContain('read');
});

it('connections that wait in the system are accepted before the requests of others are answered', async () => {
  const connections = 100;
  let answered = 0;
  const answeredBefore: number[] = [];
  const server = createServer((_request, response) => {
    for (const endsAt = performance.now() + 10; performance.now() < endsAt;);
    answered += 1;
    response.end();
  });
  servers.push(server);
  server.on('connection', () => answeredBefore.push(answered));
  answerInTurn(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  for (let opened = 0; opened < connections; opened += 1) {
    const caller = connect({ host: '127.0.0.1', port });
    caller.on('error', () => undefined);
    sockets.push(caller);
    caller.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
  }
  await expect.poll(() => answered).toBe(connections);
  expect(answeredBefore).toHaveLength(connections);
  expect(answeredBefore.at(-1)).toBeLessThan(connections / 2);
});
