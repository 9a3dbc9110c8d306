import { randomUUID } from 'node:crypto';
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { listen } from '../../test/support/listen.ts';

export interface Loss {
  /**
   * Resolves when the proxy may close the connection to the target. By default, it does so when the response arrives.
   */
  readonly when?: Promise<void>;
  readonly status?: number;
  /** If true, reads the whole response first, so that the target cannot notice the loss. */
  readonly isRead?: boolean;
}

export interface LossyProxy {
  lossyUrl(loss?: Loss): string;
  readonly silentUrl: string;
  requests(url: string): number;
  close(): Promise<void>;
}

/** Breaks the client's connection once the target's response has arrived, as a bad network might. */
export async function startLossyProxy(baseUrl: string): Promise<LossyProxy> {
  const seen = new Map<string, number>();
  const losses = new Map<string, Loss>();
  const server = createServer((request, response) => {
    if (request.url?.startsWith('/silent') === true) return;
    const [, token = '', path = ''] = /^\/([0-9a-f-]{36})(\/.*)$/.exec(request.url ?? '') ?? [];
    const count = (seen.get(token) ?? 0) + 1;
    seen.set(token, count);
    const onward = forward(request, `${baseUrl}${path}`);
    const handled =
      count === 1
        ? lose(onward, response, losses.get(token))
        : onward.answer.then((answer) => pass(answer, response));
    handled.catch(() => response.destroy());
  });
  const { url, close } = await listen(server);
  return {
    lossyUrl(loss) {
      const token = randomUUID();
      if (loss !== undefined) losses.set(token, loss);
      return `${url}/${token}`;
    },
    silentUrl: `${url}/silent`,
    requests: (address) => seen.get(address.split('/').at(-1) ?? '') ?? 0,
    close,
  };
}

interface Onward {
  readonly answer: Promise<IncomingMessage>;
  cut(): void;
}

function forward(request: IncomingMessage, url: string): Onward {
  const send = url.startsWith('https:') ? httpsRequest : httpRequest;
  const { host: _host, connection: _connection, ...headers } = request.headers;
  const onward = send(url, { method: request.method, headers, agent: false });
  const answer = new Promise<IncomingMessage>((resolve, reject) => {
    onward.on('response', resolve);
    onward.on('error', reject);
  });
  request.pipe(onward);
  // Always reset the connection. If it were merely closed, a reset would occur only if an unread response had already
  // arrived.
  return { answer, cut: () => void (onward.socket?.resetAndDestroy() ?? onward.destroy()) };
}

/** Also breaks the connection to the target, which then notices the loss, unless the response has been read. */
async function lose(onward: Onward, response: ServerResponse, loss: Loss = {}): Promise<void> {
  const { when, status, isRead } = loss;
  onward.answer.catch(() => undefined);
  if (when === undefined) {
    const answer = await onward.answer;
    if (isRead === true) for await (const _ of answer);
  } else await when;
  if (isRead !== true) onward.cut();
  if (status === undefined) response.destroy();
  else
    response.writeHead(status, { 'content-type': 'application/json' }).end('{"error":{"message":"gateway"}}');
}

function pass(answer: IncomingMessage, response: ServerResponse): void {
  response.writeHead(answer.statusCode ?? 502, answer.headers);
  answer.pipe(response);
}
