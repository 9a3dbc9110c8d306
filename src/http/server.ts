import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { z } from 'zod';
import { answerInTurn, hasMore } from './answer-in-turn.ts';
import type { GatewayApp } from './app.ts';
import { connectionsMaxOf, limitConnections, type ConnectionLimits } from './connections.ts';
import { answerUnreadable, headerProblem, refuseRequest } from './unreadable.ts';

export interface HttpServerOptions {
  readonly app: Pick<GatewayApp, 'callback' | 'drain'>;
  readonly host: string;
  /** 0 means any free port. */
  readonly port: number;
  /** Defaults to a third of the files that the process may open, up to 8,192. */
  readonly connectionsMax?: number;
  readonly answerBytesPerSecondMin?: number;
  readonly headersTimeoutMs?: number;
}

export interface RunningHttpServer {
  readonly url: string;
  /**
   * Stops accepting connections, responds to waiting requests immediately, and lets all others finish. After `graceMs`,
   * cuts off requests that are still running.
   */
  close(graceMs: number): Promise<void>;
}

const headersTimeoutMsDefault = 15_000;
/** How often timeouts are checked. This is also the longest delay before a slow connection is closed. */
const timeoutCheckMs = 1_000;
/** The limit for headers and body together. It is long enough to send 64 MiB of images over a slow line. */
const requestTimeoutMs = 120_000;
/**
 * Longer than the idle timeouts of common load balancers, so that none of them sends a request on a connection that is
 * being closed.
 */
const keepAliveTimeoutMs = 75_000;
const idleSweepMs = 100;
/**
 * The system queues this many connections while the event loop is busy. Clients retry further ones after 1, 3 and 7 s.
 * Node's default is 511. The system's own limit (`net.core.somaxconn`) also applies.
 */
const backlog = 8_192;

export async function startHttpServer(options: HttpServerOptions): Promise<RunningHttpServer> {
  const { app, host, port } = options;
  const headersTimeout = options.headersTimeoutMs ?? headersTimeoutMsDefault;
  const server = createServer({
    headersTimeout,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: keepAliveTimeoutMs,
    connectionsCheckingInterval: Math.min(timeoutCheckMs, headersTimeout),
    // Our own check reports a missing Host header in the common error body.
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
  // `close` also calls Node's own method, which would cut off responses that have been written but not completely sent.
  server.closeIdleConnections = () => connections.closeIdle(hasMore);
  answerInTurn(server);
  server.on('request', (request, response) => {
    const problem = headerProblem(request);
    if (problem === undefined) handle(request, response);
    else refuseRequest(response, 400, problem);
  });
  server.on('checkExpectation', (_request, response) => {
    refuseRequest(response, 417, 'This service supports only the expectation 100-continue.');
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    answerUnreadable(error, socket, connections.isAnswered(socket));
  });
}

function openFilesMax(): number | undefined {
  // Without this setting, creating the report would look up the host names of all peers and wait for them.
  Reflect.set(process.report, 'excludeNetwork', true);
  return openFilesSchema.safeParse(process.report.getReport()).data?.userLimits.open_files.soft;
}

const openFilesSchema = z.object({
  userLimits: z.object({ open_files: z.object({ soft: z.number() }) }),
});

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host, backlog }, () => {
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
    // A connection becomes idle once its last response has been sent.
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
