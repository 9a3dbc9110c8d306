import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { createFiles } from '../../src/media/files.ts';
import { createLogger } from '../../src/observability/log.ts';
import { deleteExpiredFiles, deleteFilesOf } from '../../src/results/expired-files.ts';
import { createKeepImages } from '../../src/results/keep-images.ts';
import { createMediaLinks } from '../../src/results/media-links.ts';
import { createResultCopier } from '../../src/results/result-copier.ts';
import { createS3Storage } from '../../src/results/s3-storage.ts';
import { lateWriteMs, type ResultStorage } from '../../src/results/storage.ts';
import { storageLimits, withTimeLimits } from '../../src/results/time-limits.ts';
import { createFileUploadStore } from '../../src/store/file-uploads.ts';
import { createFileStore } from '../../src/store/files.ts';
import { isOutage } from '../../src/store/mongo.ts';
import { createResultCopyStore } from '../../src/store/result-copies.ts';
import { openDatabase } from '../capacity/support.ts';
import { testSealing } from '../support/sealing.ts';
import { png, serve, type TestServer } from './support.ts';

const retentionSeconds = 86_400;
const image = png(5_000);
const objects = new Set<string>();
let received: string[] = [];
let database: Awaited<ReturnType<typeof openDatabase>>;
let bucket: TestServer;
let storage: ResultStorage;
let directory: string;
let path: string;
let aheadMs = 0;
const now = () => Date.now() + aheadMs;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'mediary-late-'));
  path = join(directory, 'image.png');
  await writeFile(path, image);
  database = await openDatabase();
  bucket = await serve((request, response) => {
    const key = request.url?.split('?')[0] ?? '';
    request.resume();
    if (request.method === 'PUT') return void request.once('end', () => received.push(key));
    if (request.method === 'DELETE') objects.delete(key);
    response.writeHead(request.method === 'DELETE' ? 204 : 404).end();
  });
  const keys = { access_key_id: 'a', secret_access_key: 'b' };
  const address = { endpoint: bucket.url, region: 'us-east-1', path_style: true };
  const settings = { ...keys, ...address, bucket: 'results', prefix: '', links: 'gateway' } as const;
  storage = withTimeLimits(createS3Storage(settings), { ...storageLimits, takeMs: 1_000 });
});
afterAll(async () => {
  storage.close();
  await bucket.close();
  await rm(directory, { recursive: true });
  await database.drop();
});
beforeEach(async () => {
  await Promise.all(['result_copies', 'files'].map((name) => database.db.collection(name).deleteMany({})));
  objects.clear();
  received = [];
  aheadMs = 0;
});

function openParts() {
  const { db } = database;
  const log = createLogger({ level: 'silent', format: 'json' });
  const copies = createResultCopyStore(db);
  const store = createFileStore(db, createFileUploadStore(db, now, testSealing), testSealing);
  const openMedia = async () => ({ mediaType: 'image/png', bytes: image.length, body: bodyOf(image) });
  const links = createMediaLinks({
    key: randomBytes(32),
    publicUrl: '',
    ttlSeconds: 60,
    retentionSeconds,
    now,
  });
  const copier = createResultCopier({
    storage,
    copies,
    tasks: {
      find: async () => undefined,
      replaceItems: async () => undefined,
      setConcern: async () => true,
      isOutage,
    },
    openLink: openMedia,
    maxBytes: 10_000,
    channels: () => undefined,
    retentionSeconds,
    log,
    now,
  });
  const files = createFiles({
    store,
    storage,
    probe: { probe: async () => ({ mediaType: 'image/png' }) },
    openMedia,
    bytesMax: 10_000,
    accountBytesMax: 10_000,
    retentionSeconds,
    now,
    randomBytes,
  });
  return { log, copies, store, links, copier, files };
}

async function* bodyOf(bytes: Buffer) {
  yield bytes;
}

type Parts = ReturnType<typeof openParts>;

const writers: Readonly<Record<string, (parts: Parts) => Promise<unknown>>> = {
  'the copy of a result': ({ copier }) =>
    copier.deliver('task_late', [{ url: 'https://cdn.example/a.png' }], {
      timeoutMs: 60_000,
      channel: 'c',
      headersFor: () => undefined,
    }),
  'an image that came as data': ({ copies, links }) =>
    createKeepImages({ storage, copies, links, retentionSeconds, now })('img_late', [
      image.toString('base64'),
    ]),
  'a file of an account': ({ files }) =>
    files.add({
      account: 'acme',
      key: 'key_1',
      path,
      bytes: image.length,
      filename: 'a.png',
      purpose: 'user_data',
      param: 'file',
    }),
};

async function sweep({ copier, store, log }: Parts): Promise<void> {
  await copier.retryDue();
  await copier.deleteExpired();
  await deleteExpiredFiles({ store, log, storage, now });
}

it.each(Object.entries(writers))('%s that completes after it was aborted is deleted', async (_, write) => {
  const parts = openParts();
  await write(parts).catch(() => undefined);
  expect(received).toHaveLength(1);
  await sweep(parts);
  for (const key of received) objects.add(key);
  expect(objects.size).toBe(1);
  for (const days of [1, 2, 3]) {
    aheadMs = days * (retentionSeconds + 60) * 1000;
    await sweep(parts);
  }
  expect([...objects]).toEqual([]);
});

it.each(Object.entries(writers))(
  '%s that completes after its account was deleted is deleted, and so is its record',
  async (_, write) => {
    const parts = openParts();
    await write(parts).catch(() => undefined);
    expect(received).toHaveLength(1);
    const removeAll = async (): Promise<boolean> => {
      await parts.copier.remove(['task_late', 'img_late']);
      return deleteFilesOf('acme', () => false, { ...parts, storage, now });
    };
    await removeAll();
    await sweep(parts);
    for (const key of received) objects.add(key);
    expect(objects.size).toBe(1);
    aheadMs = lateWriteMs + 60_000;
    await sweep(parts);
    expect([...objects]).toEqual([]);
    expect(await removeAll()).toBe(true);
    const records = ['result_copies', 'files'].map((name) => database.db.collection(name).countDocuments());
    expect(await Promise.all(records)).toEqual([0, 0]);
  },
);
