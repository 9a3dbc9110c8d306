import { mkdtemp, readdir } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32, deflateSync } from 'node:zlib';
import type { TestGateway } from '../support/gateway.ts';
import { listen, listener } from '../support/listen.ts';

export interface ImageUpstream {
  readonly url: string;
  readonly calls: UpstreamCall[];
  answer: (call: UpstreamCall, response: ServerResponse) => void | Promise<void>;
  close(): Promise<void>;
}

export interface UpstreamCall {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
  readonly json: Record<string, any>;
  readonly n: number;
  readonly closed: boolean;
}

export const pixel = png(1, 1);

export async function startImageUpstream(): Promise<ImageUpstream> {
  const calls: UpstreamCall[] = [];
  const upstream: Pick<ImageUpstream, 'answer'> = { answer: sendImages };
  const server = createServer(
    listener(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const body = Buffer.concat(chunks);
      const isJson = (request.headers['content-type'] ?? '').startsWith('application/json');
      const json = isJson ? JSON.parse(body.toString('utf8')) : {};
      const n = Number(
        isJson ? (json.n ?? 1) : (/name="n"\r\n\r\n(\d+)/.exec(body.toString('latin1'))?.[1] ?? 1),
      );
      const call = {
        path: request.url ?? '',
        headers: request.headers,
        body,
        json,
        n,
        get closed() {
          return request.socket.destroyed;
        },
      };
      calls.push(call);
      await upstream.answer(call, response);
    }),
  );
  const { url, close } = await listen(server);
  return Object.assign(upstream, { url: `${url}/v1`, calls, close });
}

export function sendImages(call: UpstreamCall, response: ServerResponse): void {
  sendJson(response, 200, {
    created: 1_713_833_628,
    data: Array.from({ length: call.n }, () => ({ b64_json: pixel.toString('base64') })),
    output_format: 'png',
    quality: 'medium',
    size: '1024x1024',
    usage: { total_tokens: 1_107, input_tokens: 51, output_tokens: 1_056 },
  });
}

export function sendJson(response: ServerResponse, status: number, body: unknown, headers = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

export function refuse(status: number, code: string, message: string, headers = {}) {
  return (_call: UpstreamCall, response: ServerResponse) =>
    sendJson(
      response,
      status,
      { error: { message, type: 'invalid_request_error', param: null, code } },
      headers,
    );
}

export function png(width: number, height: number, pad = 0): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2, 0, 0, 0], 8);
  const rows = deflateSync(Buffer.alloc((width * 3 + 1) * height));
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', header),
    ...(pad > 0 ? [chunk('juNk', Buffer.alloc(pad, 7))] : []),
    chunk('IDAT', rows),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/**
 * Gives this process its own temporary directory, so that a test can check what a gateway leaves behind. Call this
 * before the gateway starts.
 */
export async function watchTemporaryFiles(): Promise<() => Promise<string[]>> {
  const root = await mkdtemp(join(tmpdir(), 'images-test-'));
  process.env['TMPDIR'] = root;
  return async () => {
    const left = await Promise.all(
      (await readdir(root))
        .filter((name) => name.startsWith('mediary-images-'))
        .map((name) => readdir(join(root, name))),
    );
    return left.flat();
  };
}

export function pngHeader(width: number, height: number): Buffer {
  const real = png(1, 1);
  real.writeUInt32BE(width, 16);
  real.writeUInt32BE(height, 20);
  return real;
}

function chunk(type: string, data: Buffer): Buffer {
  const typed = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(data.length, 0);
  frame.writeUInt32BE(crc32(typed), 4);
  return Buffer.concat([frame.subarray(0, 4), typed, frame.subarray(4)]);
}

export function imageYaml(urls: { first: string; second?: string; ark?: string }): string {
  return `
currency: USD
channels:
  - id: first
    provider: openai
    base_url: ${urls.first}
    private_networks: [127.0.0.0/8]
    private_link_networks: [127.0.0.0/8]
    priority: 10
    credentials: [{ id: a, api_key: simulated }]
    cost: { lines: [{ measure: image, price: "0.03" }] }
    models:
      gpt-image: { upstream: gpt-image-1.5 }
      dall-e: { upstream: dall-e-3 }
      by-token: { upstream: gpt-image-1.5 }
  - id: second
    provider: openai
    base_url: ${urls.second ?? urls.first}
    private_networks: [127.0.0.0/8]
    private_link_networks: [127.0.0.0/8]
    enabled: ${urls.second !== undefined}
    credentials: [{ id: a, api_key: simulated }]
    models:
      gpt-image: { upstream: gpt-image-1.5 }
  - id: ark
    provider: ark
    base_url: ${urls.ark ?? urls.first}
    private_networks: [127.0.0.0/8]
    private_link_networks: [127.0.0.0/8]
    credentials: [{ id: a, api_key: simulated }]
    models:
      seedream: { upstream: doubao-seedream-4-0-250828 }
models:
  - id: gpt-image
    kind: image
    sizes: [auto]
    inputs: { images: { max: 16 } }
    n: { max: 10 }
    price:
      lines:
        - { measure: image, when: { quality: [high] }, price: "0.25" }
        - { measure: image, price: "0.04" }
  - id: by-token
    kind: image
    n: { max: 4 }
    price: { lines: [{ measure: million_tokens, price: "40" }] }
  - id: dall-e
    kind: image
    n: { max: 4 }
    price: { lines: [{ measure: image, price: "0.08" }] }
  - id: seedream
    kind: image
    sizes: [1K, 2K]
    inputs: { images: { max: 14 } }
    n: { max: 4 }
    price: { lines: [{ measure: image, when: { size: [2K] }, price: "0.03" }, { measure: image, price: "0.02" }] }
`;
}

export async function whileMinutesPass<Result>(
  { clock }: Pick<TestGateway, 'clock'>,
  waiting: Promise<Result>,
): Promise<Result> {
  const timer = setInterval(() => (clock.aheadMs += 60_000), 300);
  return waiting.finally(() => clearInterval(timer));
}

export async function eventsOf<Event>(stream: AsyncIterable<Event>): Promise<Event[]> {
  const events: Event[] = [];
  for await (const event of stream) events.push(event);
  return events;
}
