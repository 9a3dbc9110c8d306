import { testSealing } from '../support/sealing.ts';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { createLogger } from '../../src/observability/log.ts';
import { deleteExpiredFiles } from '../../src/results/expired-files.ts';
import { createResultCopier } from '../../src/results/result-copier.ts';
import { createFileStore } from '../../src/store/files.ts';
import { isOutage } from '../../src/store/mongo.ts';
import { createResultCopyStore } from '../../src/store/result-copies.ts';
import { openDatabase } from '../capacity/support.ts';

const names = ['held', 'one', 'two'];
const hourMs = 3_600_000;
const log = createLogger({ level: 'silent', format: 'json' });
const now = () => 1_000_000_000_000;

let database: Awaited<ReturnType<typeof openDatabase>>;
let removed: string[];
beforeAll(async () => void (database = await openDatabase()));
afterAll(() => database.drop());
beforeEach(async () => {
  removed = [];
  await database.db.collection('result_copies').deleteMany({});
});

async function remove(path: string): Promise<void> {
  if (path.startsWith('held')) throw new Error('AccessDenied: the object is under legal hold');
  removed.push(path);
}

const unused = () => Promise.reject(new Error('is not called'));

function copierOf(copies: ReturnType<typeof createResultCopyStore>) {
  return createResultCopier({
    storage: {
      write: unused,
      stat: unused,
      read: unused,
      remove,
      refusal: unused,
      problem: unused,
      close: () => undefined,
    },
    copies,
    tasks: { find: unused, replaceItems: unused, setConcern: unused, isOutage },
    openLink: unused,
    maxBytes: 1,
    channels: () => undefined,
    retentionSeconds: 86_400,
    log,
    now,
  });
}

async function writeCopies() {
  const copies = createResultCopyStore(database.db);
  for (const task of names)
    await copies.write({ task, state: 'stored', names: ['0.png'], tries: 1, dueAt: now() - 1 });
  return copies;
}

it('expired copies', async () => {
  const copies = await writeCopies();
  expect(await copierOf(copies).deleteExpired()).toEqual({ done: 2, failed: 1 });
  expect(removed.toSorted()).toEqual(['one/0.png', 'two/0.png']);
  expect(await copies.find('held')).toMatchObject({
    state: 'stored',
    names: ['0.png'],
    dueAt: now() + hourMs,
  });
  expect(await copierOf(copies).deleteExpired()).toEqual({ done: 0, failed: 0 });
});

it('copies of tasks that are removed', async () => {
  const copies = await writeCopies();
  await copierOf(copies).remove(names);
  expect(removed.toSorted()).toEqual(['one/0.png', 'two/0.png']);
  expect(await copies.find('one')).toBeUndefined();
  expect(await copies.find('held')).toMatchObject({
    state: 'removed',
    names: ['0.png'],
    dueAt: now() + hourMs,
  });
});

it('copies that are retried, if the record of a task cannot be read', async () => {
  const copies = createResultCopyStore(database.db);
  for (const task of names)
    await copies.write({ task, state: 'retry', names: [], tries: 1, dueAt: now() - 1 });
  expect(await copierOf(copies).retryDue()).toEqual({ done: 0, failed: names.length });
  for (const task of names) expect((await copies.find(task))?.dueAt).toBe(now() + 300_000);
});

it('expired files, and the next walk begins with others', async () => {
  const store = createFileStore(database.db, { drop: () => Promise.resolve() }, testSealing);
  const about = { filename: 'x.png', purpose: 'reference', media: { mediaType: 'image/png' } };
  for (const id of names)
    await store.begin({
      id,
      account: 'a',
      key: 'k',
      name: 'x.png',
      bytes: 5,
      createdAt: 0,
      expiresAt: now() - 1,
      ...about,
    });
  const deps = { store, storage: { remove }, log, now };
  expect(await deleteExpiredFiles(deps)).toEqual({ done: 2, failed: 1 });
  expect(removed.toSorted()).toEqual(['one/x.png', 'two/x.png']);
  expect(await store.listDue(now(), 10)).toEqual([]);
  expect(await store.listDue(now() + hourMs, 10)).toEqual([{ id: 'held', name: 'x.png' }]);
  expect(await store.bytesOf('a', now())).toBe(0);
});
