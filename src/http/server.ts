import { createServer } from 'node:http';
import type { RequestListener, Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { z } from 'zod';
import { answerInTurn } from './answer-in-turn.ts';
import type { GatewayApp } from './app.ts';
import type { ConnectionLimits } from './connections.ts';
import { connectionsMaxOf, limitConnections } from './connections.ts';
import { answerUnreadable, headerProblem, refuseRequest } from './unreadable.ts';

export interface HttpServerOptions {
  readonly app: Pick<GatewayApp, 'callback' | 'drain'>;
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** Absent: half of the files that the process may open, at most 8,192. */
  readonly connectionsMax?: number;
  /** 0, the default, lets a caller read as slowly as it likes. */
  readonly answerBytesPerSecondMin?: number;
  /** How long a connection may take to send the headers of a request. */
  readonly headersTimeoutMs?: number;
}

export interface RunningHttpServer {
  readonly url: string;
  /**
   * Stops accepting, answers waiting requests at once and lets the others finish; what still runs after `graceMs` is
   * cut off.
   */
  close(graceMs: number): Promise<void>;
}

/** A connection that sends its headers slower than this is not a caller's. */
const headersTimeoutMsDefault = 15_000;
/** How often slow connections are looked for, so how much longer than their time they may last. */
const timeoutCheckMs = 1_000;
/** Headers and body: 64 MiB of images over a slow line. */
const requestTimeoutMs = 120_000;
/** Longer than the idle time of common load balancers, which would else meet a closing connection. */
const keepAliveTimeoutMs = 75_000;
const idleSweepMs = 100;

/** Rejects when the address is taken. */
export async function startHttpServer(options: HttpServerOptions): Promise<RunningHttpServer> {
  const { app, host, port } = options;
  const headersTimeout = options.headersTimeoutMs ?? headersTimeoutMsDefault;
  const server = createServer({
    headersTimeout,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: keepAliveTimeoutMs,
    connectionsCheckingInterval: Math.min(timeoutCheckMs, headersTimeout),
    // Said in the common error body instead.
    requireHostHeader: false,
  });
  const connectionsMax = options.connectionsMax ?? connectionsMaxOf(openFilesMax());
  const { answerBytesPerSecondMin = 0 } = options;
  receive(server, app.callback(), { connectionsMax, answerBytesPerSecondMin });
  await listen(server, host, port);
  const address = server.address();
  const bound = typeof address === 'object' && address !== null ? address : undefined;
  return {
    url: formatUrl(host, bound, port),
    async close(graceMs) {
      app.drain();
      await closeServer(server, graceMs);
    },
  };
}

function receive(server: Server, handle: RequestListener, limits: ConnectionLimits): void {
  const connections = limitConnections(server, limits);
  answerInTurn(server);
  server.on('request', (request, response) => {
    const problem = headerProblem(request);
    if (problem === undefined) handle(request, response);
    else refuseRequest(response, 400, problem);
  });
  server.on('checkExpectation', (_request, response) => {
    refuseRequest(response, 417, 'The only expectation that this service meets is 100-continue.');
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    answerUnreadable(error, socket, connections.isAnswered(socket));
  });
}

/** Undefined where the system does not say. */
function openFilesMax(): number | undefined {
  // Else it looks up the names of all peers, and waits for them.
  Reflect.set(process.report, 'excludeNetwork', true);
  return openFilesSchema.safeParse(process.report.getReport()).data?.userLimits.open_files.soft;
}

const openFilesSchema = z.object({
  userLimits: z.object({ open_files: z.object({ soft: z.number() }) }),
});

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function formatUrl(host: string, bound: AddressInfo | undefined, port: number): string {
  const name = host.includes(':') ? `[${host}]` : host;
  return `http://${name}:${bound?.port ?? port}`;
}

function closeServer(server: Server, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    // A connection becomes idle when its last answer is out.
    const sweep = setInterval(() => server.closeIdleConnections(), idleSweepMs);
    const cut = setTimeout(() => server.closeAllConnections(), graceMs);
    server.close(() => {
      clearInterval(sweep);
      clearTimeout(cut);
      resolve();
    });
    server.closeIdleConnections();
  });
}
