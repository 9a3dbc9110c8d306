import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export async function startSilentServer() {
  const server = createServer();
  server.removeAllListeners('connection');
  server.listen(0, '127.0.0.1');
  const connected = once(server, 'connection');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { address: `127.0.0.1:${port}`, connected };
}
