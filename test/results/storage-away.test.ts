import { randomBytes } from 'node:crypto';
import { request, type IncomingMessage, type ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createApp } from '../../src/http/app.ts';
import { createMediaLinks } from '../../src/results/media-links.ts';
import { createS3Storage } from '../../src/results/s3-storage.ts';
import { storageLimits, withTimeLimits, type StorageLimits } from '../../src/results/time-limits.ts';
import type { TestAccount } from '../support/client.ts';
import { useHttpWorld, videoBody, type Server } from '../support/http-world.ts';
import { png, serve, startS3, type TestServer } from './support.ts';

const world = useHttpWorld('storage_away');
const bytes = png(300_000);
const storedAt = Math.floor(Date.now() / 1000);

type State = 'well' | 'failing' | 'unreachable' | 'silent' | 'breaking' | 'stalling';
let state: State = 'well';
const open = new Set<ServerResponse>();
let bucket: ReturnType<typeof createS3Storage>;
let addresses: Readonly<Record<string, readonly string[]>>;
let s3: Awaited<ReturnType<typeof startS3>>;
let valve: TestServer;
let account: TestAccount;
const file = 'file_000000000000000000000000';
const links = createMediaLinks({
  key: randomBytes(32),
  publicUrl: '',
  ttlSeconds: 3_600,
  retentionSeconds: 86_400,
  now: Date.now,
});
let node: Server;
let hasty: Server;
let steady: Server;

function pass(from: IncomingMessage, response: ServerResponse): void {
  open.add(response);
  response.once('close', () => open.delete(response));
  if (state === 'unreachable') return void response.destroy();
  if (state === 'failing') return void response.writeHead(500).end();
  if (state === 'silent') return;
  const { pathname, search } = new URL(from.url ?? '/', s3.settings.endpoint);
  const { port } = new URL(s3.settings.endpoint ?? '');
  const { method, headers } = from;
  const isBody = method === 'GET';
  const onward = request({ host: '127.0.0.1', port, path: pathname + search, method, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 500, answer.headers);
    if (state === 'well' || !isBody) return void answer.pipe(response);
    answer.once('data', (piece: Buffer) => {
      answer.destroy();
      response.write(piece.subarray(0, 100), () => state === 'breaking' && response.destroy());
    });
  });
  onward.on('error', () => response.destroy());
  from.pipe(onward);
}

beforeAll(async () => {
  [s3, valve] = await Promise.all([startS3(), serve(pass)]);
  bucket = createS3Storage({ ...s3.settings, endpoint: valve.url });
  node = await start({});
  hasty = await start({ answerMs: 300 });
  steady = await start({ silentMs: 300 });
  account = await world.newAccount();
  const { id } = (await account.create(videoBody)).body;
  const items = [{ stored: { name: '0.png', lastFrame: '0.png', sha256: 'f'.repeat(64), at: storedAt } }];
  await world.drive.succeed(id, { kind: 'succeeded', items, facts: {} });
  const link = links.url(id, '0.png', storedAt);
  addresses = {
    getMedia: [link?.url ?? ''],
    getOpenaiVideoContent: [`/v1/videos/${id}/content`, `/v1/videos/${id}/content?variant=thumbnail`],
    getOpenrouterVideoContent: [`/v1/videos/${id}/content?index=0`],
    getFileContent: [`/v1/files/${file}/content`],
  };
  for (const owner of [id, file])
    await bucket.write(`${owner}/0.png`, Readable.from([bytes]), { mediaType: 'image/png' });
});
beforeEach(() => void (state = 'well'));
afterAll(async () => {
  bucket.close();
  await valve.close();
  await s3.close();
});

function start(limits: Partial<StorageLimits>): Promise<Server> {
  const storage = withTimeLimits(bucket, { ...storageLimits, ...limits });
  const found = { id: file, name: '0.png', media: { mediaType: 'image/png' } };
  return world.startNode({
    keptResults: { storage, links, now: Date.now },
    storedFiles: { files: { find: async () => found }, storage } as never,
  });
}

const all = () => Object.values(addresses).flat();
const range = 'bytes=1000-200999';
type Asking = Omit<RequestInit, 'headers'> & { readonly headers?: Readonly<Record<string, string>> };
const read = ({ url }: Server, path: string, { headers, ...init }: Asking = {}) =>
  fetch(`${url}${path}`, { ...init, headers: { authorization: `Bearer ${account.key}`, ...headers } });

async function expectRefused(server: Server, path: string, init: Asking): Promise<void> {
  const answer = await read(server, path, init);
  expect([path, answer.status, answer.headers.get('retry-after')]).toEqual([path, 503, '10']);
  if (init.method === 'HEAD') return;
  const message = 'The file storage is not responding at the moment. Try again later.';
  expect(await answer.json()).toMatchObject({ error: { code: 'service_unavailable', message } });
}

const askings: readonly Asking[] = [{}, { headers: { range } }, { method: 'HEAD' }];

it('covers every route that sends files', () => {
  const { routes } = createApp(node.deps);
  const sending = routes.filter(({ otherAnswers = {} }) => 206 in otherAnswers);
  expect(sending.map(({ operationId }) => operationId).toSorted()).toEqual(Object.keys(addresses).toSorted());
});

describe.each(['unreachable', 'failing', 'silent'] as const)('a storage that is %s', (now) => {
  it('is a 503 that may be retried, and the next read works as soon as the storage responds', async () => {
    state = now;
    const server = now === 'silent' ? hasty : node;
    await Promise.all(all().flatMap((path) => askings.map((init) => expectRefused(server, path, init))));
    await expect.poll(() => open.size).toBe(0);
    state = 'well';
    for (const path of all()) {
      const whole = await read(node, path);
      expect([path, whole.status]).toEqual([path, 200]);
      expect(Buffer.from(await whole.arrayBuffer()).equals(bytes)).toBe(true);
      const part = await read(node, path, { headers: { range } });
      expect(part.status).toBe(206);
      expect(Buffer.from(await part.arrayBuffer()).equals(bytes.subarray(1000, 201_000))).toBe(true);
    }
  });
});

it.each(['breaking', 'stalling'] as const)('a storage that is %s ends the answer', async (now) => {
  state = now;
  const server = now === 'stalling' ? steady : node;
  const ended = async (path: string, headers: Record<string, string>) => {
    const answer = await read(server, path, { headers });
    expect([200, 206]).toContain(answer.status);
    await expect(answer.arrayBuffer()).rejects.toThrow();
  };
  await Promise.all(all().flatMap((path) => [ended(path, {}), ended(path, { range })]));
  await expect.poll(() => open.size).toBe(0);
});

it('the connection to the storage is closed when the caller disconnects', async () => {
  state = 'stalling';
  for (const path of all()) {
    const leave = new AbortController();
    const answer = await read(node, path, { signal: leave.signal });
    expect(answer.status).toBe(200);
    await expect.poll(() => open.size).toBe(1);
    leave.abort();
    await expect.poll(() => open.size).toBe(0);
  }
});
