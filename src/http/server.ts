import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { GatewayApp } from './app.ts';

export interface HttpServerOptions {
  readonly app: Pick<GatewayApp, 'callback' | 'drain'>;
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
}

export interface RunningHttpServer {
  readonly url: string;
  /**
   * Stops accepting, answers waiting requests at once and lets the others finish; what still runs after `graceMs` is
   * cut off.
   */
  close(graceMs: number): Promise<void>;
}

/** A caller who sends its headers slower than this is no caller. */
const headersTimeoutMs = 15_000;
/** Headers and body: 64 MiB of images over a slow line. */
const requestTimeoutMs = 120_000;
/** Longer than the idle time of common load balancers, which would else meet a closing connection. */
const keepAliveTimeoutMs = 75_000;
const idleSweepMs = 100;

/** Rejects when the address is taken. */
export async function startHttpServer({ app, host, port }: HttpServerOptions): Promise<RunningHttpServer> {
  const server = createServer(
    {
      headersTimeout: headersTimeoutMs,
      requestTimeout: requestTimeoutMs,
      keepAliveTimeout: keepAliveTimeoutMs,
    },
    app.callback(),
  );
  server.on('clientError', answerUnreadable);
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

const unreadableStatus: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

/** What is no HTTP never reaches the application; it gets the common error body all the same. */
function answerUnreadable(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const message = 'The request is not readable as HTTP.';
  const body = JSON.stringify({ error: { message, type: 'invalid_request_error', param: '', code: '' } });
  socket.end(
    [
      `HTTP/1.1 ${unreadableStatus[error.code ?? ''] ?? '400 Bad Request'}`,
      'connection: close',
      'content-type: application/json; charset=utf-8',
      `content-length: ${Buffer.byteLength(body)}`,
      `x-request-id: ${randomUUID()}`,
      '',
      body,
    ].join('\r\n'),
  );
}
