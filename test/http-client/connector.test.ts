import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { createConnector } from '../../src/http-client/connector.ts';

async function connectTo(protocol: 'http:' | 'https:', permits: (asked: number) => boolean) {
  let received = 0;
  const server = createServer((socket) => {
    socket.on('data', (bytes) => void (received += bytes.length));
    socket.on('error', () => undefined);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const asked: string[] = [];
  const connect = createConnector({
    rules: {
      permits: (address) => permits(asked.push(address)),
      loopbackOf: () => [],
      checkUrl: () => undefined,
    },
    connectTimeoutMs: 5_000,
  });
  const closed = once(server, 'connection').then(([socket]) => once(socket, 'close'));
  const error = await new Promise<Error | null>((resolve) => {
    const target = { hostname: '127.0.0.1', host: `127.0.0.1:${port}`, protocol, port: String(port) };
    connect(target, (failure, socket) => {
      socket?.destroy();
      resolve(failure);
    });
  });
  return { error, asked, closed, received: () => received };
}

it.each(['http:', 'https:'] as const)(
  '%s: a peer that is not at a permitted address gets no byte, and the connection is closed',
  async (protocol) => {
    const { error, asked, closed, received } = await connectTo(protocol, (call) => call === 1);
    expect(error).toMatchObject({
      code: 'address_refused',
      message: expect.stringContaining('The connection leads to'),
    });
    await closed;
    expect(received()).toBe(0);
    expect(asked).toEqual(['127.0.0.1', '127.0.0.1']);
  },
);

it('connects to a permitted peer', async () => {
  const { error, asked } = await connectTo('http:', () => true);
  expect(error).toBeNull();
  expect(asked).toHaveLength(2);
});
