import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { listener } from '../support/listen.ts';

export interface TestServer {
  readonly port: number;
  readonly origin: string;
  connections: number;
  open: number;
  requests: number;
}

function countConnection(counts: Pick<TestServer, 'connections' | 'open'>, socket: Socket): void {
  counts.connections += 1;
  counts.open += 1;
  socket.once('close', () => (counts.open -= 1));
}

type Listener = (request: IncomingMessage, response: ServerResponse) => unknown;

export async function listen(answer: Listener, host = '127.0.0.1'): Promise<TestServer> {
  const answered = listener(answer);
  const server = createServer({ keepAliveTimeout: 600_000 }, (request, response) => {
    counts.requests += 1;
    answered(request, response);
  });
  const counts = { port: 0, origin: '', connections: 0, open: 0, requests: 0 };
  server.on('connection', (socket) => countConnection(counts, socket));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, host, resolve);
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  counts.port = (server.address() as AddressInfo).port;
  counts.origin = `http://${host}:${counts.port}`;
  return counts;
}

export async function listenRaw(onData: (socket: Socket, nth: number) => void) {
  const counts = { url: '', origin: '', connections: 0, open: 0, requests: 0 };
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    countConnection(counts, socket);
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('data', () => onData(socket, (counts.requests += 1)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  counts.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  counts.url = `${counts.origin}/`;
  return counts;
}

export async function readAll(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

interface Failure {
  readonly code: string;
  readonly outcome?: string;
  readonly status?: number;
}

export async function failureOf(promise: Promise<unknown>): Promise<Failure> {
  try {
    await promise;
  } catch (error) {
    return error as Failure;
  }
  throw new Error('It was expected to fail.');
}
