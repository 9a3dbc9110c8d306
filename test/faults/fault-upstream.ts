import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { request } from 'undici';
import { listen, listener } from '../support/listen.ts';

export interface Upstreams {
  readonly status: number;
  readonly text: string;
}

export interface Exchange {
  /** Forwards the request to the simulator. The simulator accepts it even if the gateway gets an error. */
  readonly forward: () => Promise<Upstreams>;
  readonly answer: (status: number, text: string, headers?: Readonly<Record<string, string>>) => void;
  readonly raw: (...lines: readonly string[]) => void;
  readonly reset: () => void;
}

export type Fault = (exchange: Exchange) => Promise<void> | void;

export interface FaultUpstream {
  readonly port: number;
  readonly creates: (row: string) => number;
  readonly strays: () => number;
  close(): Promise<void>;
}

export interface RowFaults {
  readonly create?: Fault;
  readonly times?: number;
  readonly poll?: Fault;
}

export async function startFaultUpstream(
  rows: ReadonlyMap<string, RowFaults>,
  simulatorUrl: () => string,
): Promise<FaultUpstream> {
  const counts = new Map<string, number>();
  let strays = 0;
  async function handle(received: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, row = '', ...path] = (received.url ?? '').split('/');
    if (row === 'elsewhere') strays += 1;
    const chunks: Buffer[] = [];
    for await (const chunk of received) chunks.push(Buffer.from(chunk));
    const exchange = exchangeOf({ received, response, body: Buffer.concat(chunks) }, () =>
      new URL(`/${path.join('/')}`, simulatorUrl()).toString(),
    );
    const faults = rows.get(row);
    const isCreate = received.method === 'POST';
    const n = isCreate ? (counts.get(row) ?? 0) + 1 : 0;
    if (isCreate) counts.set(row, n);
    const isPoll = received.method === 'GET' && !(received.url ?? '').includes('?');
    const fault = isCreate ? faults?.create : isPoll ? faults?.poll : undefined;
    if (fault !== undefined && n <= (faults?.times ?? Number.MAX_SAFE_INTEGER)) return fault(exchange);
    const { status, text } = await exchange.forward();
    exchange.answer(status, text);
  }
  const { port, close } = await listen(createServer(listener(handle)));
  return { port, creates: (row) => counts.get(row) ?? 0, strays: () => strays, close };
}

interface Received {
  readonly received: IncomingMessage;
  readonly response: ServerResponse;
  readonly body: Buffer;
}

function exchangeOf({ received, response, body }: Received, target: () => string): Exchange {
  return {
    async forward() {
      const { authorization = '', 'content-type': type = 'application/json' } = received.headers;
      const answer = await request(target(), {
        method: received.method === 'POST' ? 'POST' : received.method === 'DELETE' ? 'DELETE' : 'GET',
        headers: { authorization, 'content-type': type },
        ...(body.length === 0 ? {} : { body }),
      });
      return { status: answer.statusCode, text: await answer.body.text() };
    },
    answer: (status, text, headers = {}) =>
      void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text),
    raw: (...lines) => void received.socket.end(lines.join('\r\n')),
    reset: () => void received.socket.resetAndDestroy(),
  };
}
