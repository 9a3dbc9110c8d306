import { Client, type Dispatcher } from 'undici';

export interface HttpCall {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

export interface HttpAnswer {
  readonly status: number;
  readonly body: Buffer;
}

export interface HttpConnections {
  /** `connection` ranges from 0 to the number of connections minus 1. A connection allows only one call at a time. */
  call(connection: number, call: HttpCall): Promise<HttpAnswer>;
  close(): Promise<void>;
}

const timeoutMs = 120_000;

export function openConnections(origin: string, count: number): HttpConnections {
  const clients = Array.from(
    { length: count },
    () =>
      new Client(origin, {
        pipelining: 1,
        keepAliveTimeout: timeoutMs,
        headersTimeout: timeoutMs,
        bodyTimeout: timeoutMs,
      }),
  );
  return {
    call: (connection, call) =>
      new Promise((resolve, reject) => {
        const client = clients[connection];
        if (client === undefined) throw new Error(`there is no connection ${connection}`);
        client.dispatch({ ...call, body: call.body ?? null }, answerHandler(resolve, reject));
      }),
    close: async () => {
      await Promise.all(clients.map((client) => client.destroy()));
    },
  };
}

function answerHandler(
  resolve: (answer: HttpAnswer) => void,
  reject: (error: Error) => void,
): Dispatcher.DispatchHandler {
  let status = 0;
  const chunks: Buffer[] = [];
  return {
    onRequestStart: () => undefined,
    onResponseStart: (_controller, statusCode) => {
      status = statusCode;
    },
    onResponseData: (_controller, chunk) => {
      chunks.push(chunk);
    },
    onResponseEnd: () => {
      resolve({ status, body: chunks.length === 1 ? (chunks[0] ?? Buffer.alloc(0)) : Buffer.concat(chunks) });
    },
    onResponseError: (_controller, error) => {
      reject(error);
    },
  };
}

export function expectStatus(answer: HttpAnswer, status: number): HttpAnswer {
  if (answer.status === status) return answer;
  throw new Error(`status ${answer.status}: ${answer.body.toString('utf8').slice(0, 300)}`);
}
