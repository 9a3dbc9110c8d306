import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

export interface WireRequest {
  readonly method?: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly pieces?: () => Iterable<string | Buffer>;
}

/**
 * How a body is sent: with a `content-length`, as one chunk per piece, in one-byte chunks, or in one-byte chunks after
 * many spaces.
 */
export type Framing = 'length' | 'chunks' | 'bytes' | 'spaced bytes';

const spacesCount = 64 * 1024;
const bytesAtOnce = 8 * 1024;

export function* wireOf(request: WireRequest, framing: Framing): Generator<Buffer> {
  const { method = 'POST', path, headers, pieces } = request;
  const lines = Object.entries({ host: 'x', ...headers, ...bodyHeaders(pieces, framing) });
  yield Buffer.from(
    `${method} ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`,
  );
  if (pieces === undefined) return;
  if (framing === 'spaced bytes') yield* inBytes(Buffer.alloc(spacesCount, ' '));
  let last: string | Buffer | undefined;
  let bytes = Buffer.alloc(0);
  for (const piece of pieces()) {
    // Large bodies yield the same piece many times, so convert it to bytes only once.
    if (piece !== last) bytes = Buffer.from(piece);
    last = piece;
    if (framing === 'length') yield bytes;
    else if (framing === 'chunks') yield* inOne(bytes);
    else yield* inBytes(bytes);
  }
  if (framing !== 'length') yield Buffer.from('0\r\n\r\n');
}

function bodyHeaders(pieces: WireRequest['pieces'], framing: Framing): Readonly<Record<string, string>> {
  if (pieces === undefined) return {};
  if (framing !== 'length') return { 'transfer-encoding': 'chunked' };
  return { 'content-length': String(bytesOf(pieces)) };
}

const knownBytes = new WeakMap<NonNullable<WireRequest['pieces']>, number>();

function bytesOf(pieces: NonNullable<WireRequest['pieces']>): number {
  let bytes = knownBytes.get(pieces);
  if (bytes !== undefined) return bytes;
  bytes = 0;
  for (const piece of pieces()) bytes += Buffer.byteLength(piece);
  knownBytes.set(pieces, bytes);
  return bytes;
}

const pipelinedBytes = 4 * 1024 * 1024;
const pipelinedCopiesMost = 20_000;

export function pipelinedCopies(request: WireRequest): number {
  const [head] = wireOf(request, 'length');
  const bytes = (head?.length ?? 1) + (request.pieces === undefined ? 0 : bytesOf(request.pieces));
  const copies = Math.ceil(pipelinedBytes / bytes);
  return Math.min(pipelinedCopiesMost, Math.max(2, copies));
}

/** Skips empty pieces, because an empty chunk would end the body. */
function* inOne(bytes: Buffer): Generator<Buffer> {
  if (bytes.length === 0) return;
  yield Buffer.from(`${bytes.length.toString(16)}\r\n`);
  yield bytes;
  yield Buffer.from('\r\n');
}

function* inBytes(bytes: Buffer): Generator<Buffer> {
  const frame = Buffer.from('1\r\n \r\n');
  for (let from = 0; from < bytes.length; from += bytesAtOnce) {
    const part = bytes.subarray(from, from + bytesAtOnce);
    const wire = Buffer.alloc(part.length * frame.length, frame);
    for (const [at, byte] of part.entries()) wire[at * frame.length + 3] = byte;
    yield wire;
  }
}

export interface WireConnection {
  readonly answers: readonly number[];
  isOpen(): boolean;
  write(bytes: Buffer): Promise<void>;
  answered(count: number, withinMs: number): Promise<boolean>;
  destroy(): void;
}

export interface WireTarget {
  readonly url: string;
  readonly localAddress?: string | undefined;
  readonly reads?: boolean;
}

const statusLine = 'HTTP/1.1 ';
const statusBytes = statusLine.length + 3;
const lookEveryMs = 5;

export async function openWire({ url, localAddress, reads = true }: WireTarget): Promise<WireConnection> {
  const { hostname, port } = new URL(url);
  const socket = connect({
    host: hostname,
    port: Number(port),
    ...(localAddress === undefined ? {} : { localAddress }),
  });
  const answers: number[] = [];
  let rest = Buffer.alloc(0);
  const take = (chunk: Buffer): void => {
    const bytes = Buffer.concat([rest, chunk]);
    let at = bytes.indexOf(statusLine);
    for (; at >= 0 && at + statusBytes <= bytes.length; at = bytes.indexOf(statusLine, at + statusBytes))
      answers.push(Number(bytes.toString('latin1', at + statusLine.length, at + statusBytes)));
    rest = bytes.subarray(Math.max(0, bytes.length - statusBytes + 1));
  };
  if (reads) socket.on('data', take);
  socket.on('error', () => undefined);
  await Promise.race([once(socket, 'connect').catch(() => undefined), once(socket, 'close')]);
  const isOpen = (): boolean => socket.writable && !socket.destroyed;
  return {
    answers,
    isOpen,
    async write(bytes) {
      if (isOpen() && !socket.write(bytes)) await drained(socket);
    },
    async answered(count, withinMs) {
      const endsAt = performance.now() + withinMs;
      while (answers.length < count && isOpen() && performance.now() < endsAt) await delay(lookEveryMs);
      return answers.length >= count;
    },
    destroy: () => void socket.destroy(),
  };
}

function drained(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      socket.off('drain', end).off('close', end).off('end', end);
      resolve();
    };
    socket.on('drain', end).on('close', end).on('end', end);
  });
}

export interface Shot {
  readonly request: WireRequest;
  readonly framing: Framing;
  readonly copies?: number;
  readonly withinMs: number;
}

export async function shoot(target: WireTarget, shot: Shot): Promise<readonly number[]> {
  const wire = await openWire(target);
  try {
    await shootOn(wire, shot);
    return wire.answers;
  } finally {
    wire.destroy();
  }
}

export async function shootOn(wire: WireConnection, shot: Shot): Promise<void> {
  const { request, framing, copies = 1, withinMs } = shot;
  for (let copy = 0; copy < copies && wire.isOpen(); copy += 1) {
    for (const piece of wireOf(request, framing)) {
      if (!wire.isOpen() || wire.answers.length > copy) break;
      await wire.write(piece);
    }
  }
  await wire.answered(copies, withinMs);
}
