import { randomUUID } from 'node:crypto';
import { createServer, request as httpRequest } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { request as httpsRequest } from 'node:https';

export interface LossyProxy {
  /** Forwards to the target; the first answer under each address is lost after it was made. */
  lossyUrl(): string;
  /** Where a request is never answered. */
  readonly silentUrl: string;
  /** Requests under this address so far. */
  requests(url: string): number;
  close(): Promise<void>;
}

/** Stands between a client and a deployment and breaks the connection when the answer is there: what a bad network does. */
export async function startLossyProxy(baseUrl: string): Promise<LossyProxy> {
  const seen = new Map<string, number>();
  const server = createServer((request, response) => {
    if (request.url?.startsWith('/silent') === true) return;
    const [, token = '', path = ''] = /^\/([0-9a-f-]{36})(\/.*)$/.exec(request.url ?? '') ?? [];
    const count = (seen.get(token) ?? 0) + 1;
    seen.set(token, count);
    forward(request, `${baseUrl}${path}`)
      .then((answer) => (count === 1 ? lose(answer, response) : pass(answer, response)))
      .catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a TCP server has a port');
  const { port } = address;
  return {
    lossyUrl: () => `http://127.0.0.1:${port}/${randomUUID()}`,
    silentUrl: `http://127.0.0.1:${port}/silent`,
    requests: (url) => seen.get(url.split('/').at(-1) ?? '') ?? 0,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Resolves when the headers of the answer are there. */
function forward(request: IncomingMessage, url: string): Promise<IncomingMessage> {
  const send = url.startsWith('https:') ? httpsRequest : httpRequest;
  const { host: _host, connection: _connection, ...headers } = request.headers;
  return new Promise((resolve, reject) => {
    const onward = send(url, { method: request.method, headers, agent: false }, resolve);
    onward.on('error', reject);
    request.pipe(onward);
  });
}

/** The deployment must see that its answer was not taken: its connection breaks too. */
function lose(answer: IncomingMessage, response: ServerResponse): void {
  answer.destroy();
  response.destroy();
}

function pass(answer: IncomingMessage, response: ServerResponse): void {
  response.writeHead(answer.statusCode ?? 502, answer.headers);
  answer.pipe(response);
}
