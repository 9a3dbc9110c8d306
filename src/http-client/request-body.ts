import { randomUUID } from 'node:crypto';
import { open, stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { FileDataUrl, type OutgoingObject } from '../providers/shared/file-data-url.ts';

export interface RequestBody {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Readable;
}

interface Piece {
  readonly bytes: number;
  read(): AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

/** Divisible by three, so that the base64 of all chunks can be concatenated. */
const fileChunkBytes = 48 * 1024;

export async function encodeJson(value: OutgoingObject): Promise<RequestBody> {
  const mark = randomUUID();
  const files: FileDataUrl[] = [];
  const text = JSON.stringify(value, function (this: unknown, key, plain: unknown) {
    const original: unknown = isIndexable(this) ? this[key] : undefined;
    if (!(original instanceof FileDataUrl)) return plain;
    files.push(original);
    return mark;
  });
  const type = { 'content-type': 'application/json' };
  if (files.length === 0) return { headers: type, body: text };
  for (const { path, bytes } of files) await requireSize(path, bytes);
  const pieces = text.split(`"${mark}"`).flatMap((between, index) => {
    const file = files[index];
    return file === undefined ? [textPiece(between)] : [textPiece(between), ...dataUrlPieces(file)];
  });
  return streamed(type, pieces);
}

/** Like browsers, escapes quotes and line breaks in names and file names. */
export function encodeForm(form: FormData): RequestBody {
  const boundary = `mediary-${randomUUID()}`;
  const pieces: Piece[] = [];
  for (const [name, value] of form) {
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="${escapeName(name)}"`;
    if (typeof value === 'string') {
      pieces.push(textPiece(`${head}\r\n\r\n${value.replace(/\r?\n|\r/g, '\r\n')}\r\n`));
      continue;
    }
    const type = value.type === '' ? 'application/octet-stream' : value.type;
    pieces.push(
      textPiece(`${head}; filename="${escapeName(value.name)}"\r\nContent-Type: ${type}\r\n\r\n`),
      { bytes: value.size, read: () => value.stream() },
      textPiece('\r\n'),
    );
  }
  pieces.push(textPiece(`--${boundary}--\r\n`));
  return streamed({ 'content-type': `multipart/form-data; boundary=${boundary}` }, pieces);
}

function isIndexable(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function escapeName(name: string): string {
  return name.replace(/\r?\n|\r/g, '%0D%0A').replaceAll('"', '%22');
}

async function requireSize(path: string, bytes: number): Promise<void> {
  const { size } = await stat(path);
  if (size !== bytes) throw new Error(`One of the request’s files has ${size} bytes, not ${bytes}.`);
}

function textPiece(text: string): Piece {
  const bytes = Buffer.from(text);
  return { bytes: bytes.length, read: () => [bytes] };
}

function dataUrlPieces(file: FileDataUrl): readonly Piece[] {
  const base64Bytes = Math.ceil(file.bytes / 3) * 4;
  return [textPiece(`"${file.head}`), { bytes: base64Bytes, read: () => readAsBase64(file) }, textPiece('"')];
}

async function* readAsBase64({ path, bytes }: FileDataUrl): AsyncGenerator<Buffer> {
  const handle = await open(path, 'r');
  try {
    for (let at = 0; at < bytes;) {
      const chunk = Buffer.allocUnsafe(Math.min(fileChunkBytes, bytes - at));
      await readFully(handle, chunk, at);
      yield Buffer.from(chunk.toString('base64'), 'latin1');
      at += chunk.length;
    }
  } finally {
    await handle.close();
  }
}

type FileHandle = Awaited<ReturnType<typeof open>>;

async function readFully(handle: FileHandle, chunk: Buffer, position: number): Promise<void> {
  for (let filled = 0; filled < chunk.length;) {
    const { bytesRead } = await handle.read(chunk, filled, chunk.length - filled, position + filled);
    if (bytesRead === 0)
      throw new Error('One of the request’s files became shorter while it was being sent.');
    filled += bytesRead;
  }
}

function streamed(headers: Readonly<Record<string, string>>, pieces: readonly Piece[]): RequestBody {
  const bytes = pieces.reduce((sum, piece) => sum + piece.bytes, 0);
  return {
    headers: { ...headers, 'content-length': String(bytes) },
    body: Readable.from(readAll(pieces), { objectMode: false }),
  };
}

async function* readAll(pieces: readonly Piece[]): AsyncGenerator<Uint8Array> {
  for (const piece of pieces) yield* piece.read();
}
