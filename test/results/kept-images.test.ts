import { randomBytes } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { createKeepImages } from '../../src/results/keep-images.ts';
import { createMediaLinks } from '../../src/results/media-links.ts';
import { lateWriteMs } from '../../src/results/storage.ts';
import { createResultCopyStore, type ResultCopyStore } from '../../src/store/result-copies.ts';
import { openDatabase } from '../capacity/support.ts';
import { png } from './support.ts';

const retentionSeconds = 86_400;
const data = png(100).toString('base64');
let database: Awaited<ReturnType<typeof openDatabase>>;
let copies: ResultCopyStore;
let writes: (() => Promise<void>)[];
let time = Date.now();
const storage = { write: async () => (await writes.shift()?.()) as never };

beforeAll(async () => {
  database = await openDatabase();
  copies = createResultCopyStore(database.db);
});
afterAll(() => database.drop());
beforeEach(() => void (writes = []));

function keeper() {
  const now = () => (time += 1);
  const links = createMediaLinks({
    key: randomBytes(32),
    publicUrl: '',
    ttlSeconds: 60,
    retentionSeconds,
    now,
  });
  return createKeepImages({ storage, copies, links, retentionSeconds, now });
}

const fail = () => Promise.reject(new Error('the storage does not respond'));

async function failedOn(signal: EventEmitter): Promise<void> {
  await once(signal, 'failed');
  await fail();
}

async function expectKept(image: string): Promise<void> {
  const kept = await copies.find(image);
  expect(kept).toMatchObject({ state: 'stored', names: ['0.png'] });
  expect(kept?.dueAt).toBeGreaterThan(time + (retentionSeconds * 1000) / 2);
}

it('images stored by a second attempt are kept until their retention ends', async () => {
  writes = [fail, async () => undefined];
  const keep = keeper();
  await expect(keep('img_second', [data])).rejects.toThrow('does not respond');
  expect(await copies.find('img_second')).toMatchObject({ state: 'unused' });
  expect((await copies.find('img_second'))?.dueAt).toBeLessThanOrEqual(time + lateWriteMs);
  await keep('img_second', [data]);
  await expectKept('img_second');
});

it('an attempt that fails after a later one succeeded leaves the images stored', async () => {
  const failing = new EventEmitter();
  writes = [() => failedOn(failing), async () => undefined];
  const keep = keeper();
  const first = keep('img_late', [data]);
  await expect.poll(() => writes.length).toBe(1);
  await keep('img_late', [data]);
  failing.emit('failed');
  await expect(first).rejects.toThrow('does not respond');
  await expectKept('img_late');
});

it('a failed attempt leaves the images of a deleted account removed', async () => {
  const failing = new EventEmitter();
  writes = [() => failedOn(failing)];
  const attempt = keeper()('img_removed', [data]);
  await expect.poll(() => writes.length).toBe(0);
  const dueAt = time + lateWriteMs;
  await copies.remove('img_removed', dueAt);
  failing.emit('failed');
  await expect(attempt).rejects.toThrow('does not respond');
  expect(await copies.find('img_removed')).toMatchObject({ state: 'removed', dueAt });
});
