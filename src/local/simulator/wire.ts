import type { IncomingHttpHeaders } from 'node:http';

/** One request as a dialect sees it: the path without the dialect's prefix, the body complete. */
export interface WireRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface Content {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** What goes back: an answer, an answer as a hostile peer would send it, or none. */
export type Reply =
  | ({ readonly kind: 'send' } & Content)
  /** The body takes this long, a few bytes at a time. */
  | ({ readonly kind: 'trickle'; readonly durationMs: number } & Content)
  /** The body is followed by white space up to this size, without a content-length. */
  | ({ readonly kind: 'flood'; readonly totalBytes: number } & Content)
  /** No answer: the connection is reset after the delay. */
  | { readonly kind: 'drop'; readonly afterMs: number };

export function json(status: number, value: unknown, headers: Readonly<Record<string, string>> = {}): Reply {
  return {
    kind: 'send',
    status,
    headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
    body: Buffer.from(JSON.stringify(value)),
  };
}

export function bytes(status: number, body: Buffer, headers: Readonly<Record<string, string>>): Reply {
  return { kind: 'send', status, headers, body };
}

/** A stream of server-sent events, sent at once: what is streamed here is complete already. */
export function eventStream(
  events: readonly { readonly name: string | undefined; readonly data: unknown }[],
  end: string,
): Reply {
  const lines = events.map(
    ({ name, data }) => `${name === undefined ? '' : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`,
  );
  return bytes(200, Buffer.from(lines.join('') + end), { 'content-type': 'text/event-stream' });
}

/** undefined when the body is not JSON. */
export function parseJson(body: Buffer): unknown {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    return value;
  } catch {
    return undefined;
  }
}

export function bearerToken(request: WireRequest): string | undefined {
  const match = /^Bearer\s+(\S+)$/i.exec(request.headers.authorization ?? '');
  return match?.[1];
}
