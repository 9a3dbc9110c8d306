import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { ParameterizedContext } from 'koa';
import { isMade, type BodyPart, type Reply } from './route.ts';

const unreadAnswerMs = 60_000;
/** Up to this size, one copy and one write cost less than a stream. */
const joinedBytesMax = 64 * 1024;
/** Longer bodies are written in pieces of this size, so that the connection can measure how fast the caller reads. */
const pieceBytes = 16 * 1024;

export function writeReply(context: ParameterizedContext, reply: Reply): void {
  const { status, headers, mediaType, body = '', onEnd } = reply;
  const { socket } = context;
  // Applies until the response has been flushed, after which Node's keep-alive timeout applies.
  socket.setTimeout(unreadAnswerMs);
  if (onEnd !== undefined) whenSent(context.res, onEnd);
  context.status = status;
  for (const name in headers) context.set(name, headers[name] ?? '');
  if (status === 304 || status === 204) return;
  context.set('content-type', mediaType);
  if (body instanceof Readable) {
    context.body = body;
    return;
  }
  if (isMade(body)) {
    context.body = Readable.from(body, { objectMode: false, highWaterMark: 1 });
    return;
  }
  const parts = typeof body === 'string' || Buffer.isBuffer(body) ? [body] : body;
  const bytes = parts.reduce((sum, part) => sum + Buffer.byteLength(part), 0);
  context.body =
    bytes <= joinedBytesMax ? joined(parts) : Readable.from(piecesOf(parts), { objectMode: false });
  context.length = bytes;
}

function joined(parts: readonly BodyPart[]): Buffer | string {
  const [only] = parts;
  if (parts.length === 1 && (typeof only === 'string' || Buffer.isBuffer(only))) return only;
  return Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)));
}

function* piecesOf(parts: readonly BodyPart[]): Generator<Buffer, void, undefined> {
  for (const part of parts) {
    const bytes =
      typeof part === 'string' ? Buffer.from(part) : Buffer.from(part.buffer, part.byteOffset, part.length);
    for (let start = 0; start < bytes.length; start += pieceBytes)
      yield bytes.subarray(start, start + pieceBytes);
  }
}

/** Calls `work` once the response has been sent completely or its connection has closed. */
export function whenSent(response: ServerResponse, work: () => void): void {
  if (response.closed || response.destroyed) work();
  else response.once('close', work);
}
