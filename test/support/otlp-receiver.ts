import { createServer } from 'node:http';
import { listen } from './listen.ts';

export interface ReceivedSpan {
  readonly trace: string;
  readonly id: string;
  readonly parent: string;
  readonly name: string;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly isError: boolean;
  readonly resource: Readonly<Record<string, unknown>>;
}

export async function startOtlpReceiver() {
  const spans: ReceivedSpan[] = [];
  const answer = { status: 200, body: '', requests: 0 };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      answer.requests += 1;
      if (answer.status === 200 && request.url === '/v1/traces')
        spans.push(...spansOf(Buffer.concat(chunks)));
      if (answer.status > 0) response.writeHead(answer.status).end(answer.body);
    });
  });
  const { url, close } = await listen(server);
  return { url, spans, answer, close };
}

type Value = Buffer | bigint;
type Fields = ReadonlyMap<number, readonly Value[]>;

/** The field numbers are from opentelemetry/proto/trace/v1/trace.proto. */
function spansOf(request: Buffer): ReceivedSpan[] {
  return messages(read(request), 1).flatMap((ofProcess) => {
    const resource = messages(ofProcess, 1).flatMap((message) => attributesOf(message, 1));
    return messages(ofProcess, 2)
      .flatMap((scope) => messages(scope, 2))
      .map((span) => ({
        trace: bytes(span, 1).toString('hex'),
        id: bytes(span, 2).toString('hex'),
        parent: bytes(span, 4).toString('hex'),
        name: bytes(span, 5).toString(),
        startedAt: Number(number(span, 7) / 1_000_000n),
        endedAt: Number(number(span, 8) / 1_000_000n),
        attributes: Object.fromEntries(attributesOf(span, 9)),
        isError: messages(span, 15).some((status) => number(status, 3) === 2n),
        resource: Object.fromEntries(resource),
      }));
  });
}

function attributesOf(fields: Fields, field: number): [string, unknown][] {
  return messages(fields, field).map((pair) => {
    const [value = new Map()] = messages(pair, 2);
    if (value.has(1)) return [bytes(pair, 1).toString(), bytes(value, 1).toString()];
    return [bytes(pair, 1).toString(), value.has(2) ? number(value, 2) === 1n : Number(number(value, 3))];
  });
}

function messages(fields: Fields, field: number): Fields[] {
  return (fields.get(field) ?? []).map((value) => read(Buffer.isBuffer(value) ? value : Buffer.alloc(0)));
}

function bytes(fields: Fields, field: number): Buffer {
  const [value] = fields.get(field) ?? [];
  return Buffer.isBuffer(value) ? value : Buffer.alloc(0);
}

function number(fields: Fields, field: number): bigint {
  const [value] = fields.get(field) ?? [];
  return typeof value === 'bigint' ? value : 0n;
}

/** For the encoding, see https://protobuf.dev/programming-guides/encoding/. */
function read(buffer: Buffer): Fields {
  const fields = new Map<number, Value[]>();
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = buffer.readUInt8(at);
      at += 1;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const take = (length: number): Buffer => buffer.subarray(at, (at += length));
  const readers: Readonly<Record<number, () => Value>> = {
    0: varint,
    1: () => take(8).readBigUInt64LE(),
    2: () => take(Number(varint())),
    5: () => BigInt(take(4).readUInt32LE()),
  };
  while (at < buffer.length) {
    const tag = Number(varint());
    const value = readers[tag & 7]?.();
    if (value === undefined) throw new Error(`wire type ${tag & 7}`);
    fields.set(tag >> 3, [...(fields.get(tag >> 3) ?? []), value]);
  }
  return fields;
}
