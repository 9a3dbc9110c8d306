import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

interface EarlyAnswer {
  readonly status: string;
  readonly message: string;
  readonly type: 'invalid_request_error';
  readonly code: '' | 'request_timeout';
}

const unreadable: EarlyAnswer = {
  status: '400 Bad Request',
  message: 'The request is not valid HTTP.',
  type: 'invalid_request_error',
  code: '',
};

/** The error message for headers that exceed Node's own limit, which Node enforces before the route is known. */
export const headersTooLarge = 'The URL and the headers together exceed 16 KiB.';

const refusals: Readonly<Record<string, EarlyAnswer>> = {
  HPE_HEADER_OVERFLOW: {
    ...unreadable,
    status: '431 Request Header Fields Too Large',
    message: headersTooLarge,
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: '408 Request Timeout',
    message: 'The request was not sent in time.',
    type: 'invalid_request_error',
    code: 'request_timeout',
  },
};

/** The response may take this long to reach the caller before the connection is closed. */
const lingerMs = 1_000;

/**
 * Responds to a request that cannot be read. If a response has already started on the connection (`answered`), a second
 * one would corrupt it.
 */
export function answerUnreadable(error: NodeJS.ErrnoException, socket: Socket, answered: boolean): void {
  if (error.code === 'ECONNRESET' || !socket.writable || answered) socket.destroy();
  else endWith(socket, refusals[error.code ?? ''] ?? unreadable);
}

/** Destroys the connection, because the caller might never close its side. */
function endWith(socket: Socket, refusal: EarlyAnswer): void {
  const body = bodyOf(refusal);
  const cut = setTimeout(() => socket.destroy(), lingerMs);
  socket.once('close', () => clearTimeout(cut));
  socket.end(
    [
      `HTTP/1.1 ${refusal.status}`,
      'connection: close',
      'content-type: application/json; charset=utf-8',
      `content-length: ${Buffer.byteLength(body)}`,
      `x-request-id: ${randomUUID()}`,
      '',
      body,
    ].join('\r\n'),
  );
}

/** There may be at most one Authorization header, and HTTP/1.1 requires exactly one Host header (optional in 1.0). */
export function headerProblem({ httpVersion, rawHeaders }: IncomingMessage): string | undefined {
  let hosts = 0;
  let keys = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts += 1;
    if (name?.length === 13 && name.toLowerCase() === 'authorization') keys += 1;
  }
  if (hosts > 1) return 'The request has more than one Host header.';
  if (keys > 1) return 'The request has more than one Authorization header.';
  return hosts === 0 && httpVersion === '1.1' ? 'The request has no Host header.' : undefined;
}

export function refuseRequest(response: ServerResponse, status: 400 | 417, message: string): void {
  const body = bodyOf({ ...unreadable, message });
  response.writeHead(status, {
    connection: 'close',
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    'x-request-id': randomUUID(),
  });
  response.end(body);
}

function bodyOf({ message, type, code }: EarlyAnswer): string {
  return JSON.stringify({ error: { message, type, param: '', code } });
}
