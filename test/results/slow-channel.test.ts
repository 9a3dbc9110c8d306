import { afterAll, beforeAll, expect, it } from 'vitest';
import { createUploads } from '../../src/media/uploads.ts';
import { createLogger } from '../../src/observability/log.ts';
import { deleteFilesOf } from '../../src/results/expired-files.ts';
import { createResultCopier } from '../../src/results/result-copier.ts';
import { createFileUploadStore } from '../../src/store/file-uploads.ts';
import { createFileStore } from '../../src/store/files.ts';
import { createResultCopyStore } from '../../src/store/result-copies.ts';
import { openDatabase } from '../capacity/support.ts';
import { testSealing } from '../support/sealing.ts';
import { firstRecord } from '../support/task-records.ts';

const backlog = Array.from({ length: 450 }, (_, n) => String(n).padStart(3, '0'));
const log = createLogger({ level: 'silent', format: 'json' });
const now = () => 1_000_000_000_000;

let database: Awaited<ReturnType<typeof openDatabase>>;
beforeAll(async () => void (database = await openDatabase()));
afterAll(() => database.drop());

function limit(countMax: number) {
  const begun: string[] = [];
  return { begun, isOver: () => begun.length >= countMax };
}

it('copies of other channels are retried, although a slow one has more overdue copies than fit into a step', async () => {
  const copies = createResultCopyStore(database.db);
  await copies.ensureIndexes();
  const due = { state: 'retry', names: [], tries: 0 } as const;
  await Promise.all(
    backlog.map((id) => copies.write({ ...due, task: `slow-${id}`, channel: 'slow', dueAt: 1 })),
  );
  await copies.write({ ...due, task: 'quick', channel: 'quick', dueAt: now() - 1 });
  await copies.write({ ...due, task: 'from-an-earlier-version', dueAt: now() - 1 });
  await copies.write({ ...due, task: 'without-a-channel', channel: '', dueAt: now() - 1 });
  const begun: string[] = [];
  const copier = createResultCopier({
    copies,
    tasks: {
      find: (id: string) => {
        begun.push(id);
        if (id.startsWith('slow')) return new Promise(() => undefined);
        return Promise.resolve(firstRecord(id, { channel: id }));
      },
    },
    retentionSeconds: 60,
    log,
    now,
  } as never);
  void copier.retryDue();
  await expect
    .poll(() => begun.toSorted())
    .toEqual(['from-an-earlier-version', 'quick', 'slow-000', 'slow-001', 'without-a-channel']);
});

it('channels without a copy in one step come first in the next', async () => {
  const copies = createResultCopyStore(database.db);
  for (const channel of ['a', 'b', 'c'])
    for (const n of [1, 2])
      await copies.write({
        task: `${channel}${n}`,
        channel,
        state: 'retry',
        names: [],
        tries: 0,
        dueAt: -n,
      });
  const seen: string[] = [];
  const { begun, isOver } = limit(1);
  const copier = createResultCopier({
    copies: { ...copies, listRetries: async () => await copies.listRetries({ at: 0, eachMax: 2 }) },
    tasks: {
      async find(id: string) {
        begun.push(id);
        throw new Error('the server did not answer');
      },
    },
    log,
    now: () => -1_000_000,
  } as never);
  for (const _ of ['a', 'b', 'c']) {
    await copier.retryDue(isOver);
    seen.push(...begun.splice(0).map((task) => task.charAt(0)));
  }
  expect(seen.toSorted()).toEqual(['a', 'b', 'c']);
});

it('uploads of other channels are deleted, although one has more due uploads than fit into a step', async () => {
  const uploads = createFileUploadStore(database.db, now, testSealing);
  await uploads.ensureIndexes();
  const add = async (channel: string, file: string) => {
    const key = { file, channel, credential: 'a' };
    await uploads.claim(key, 'owner');
    const ready = { id: `${channel}-${file}`, url: 'https://u.example', usableUntil: 0 };
    await uploads.complete(key, 'owner', { ...ready, dueAt: channel === 'slow' ? 1 : now() - 1 });
  };
  await Promise.all(backlog.map((id) => add('slow', id)));
  await add('quick', 'x');
  const begun: string[] = [];
  const channels = (name: string) => ({
    context: () => ({}),
    provider: {
      removeUpload: (id: string) => {
        begun.push(id);
        return name === 'slow' ? new Promise(() => undefined) : Promise.resolve();
      },
    },
  });
  void createUploads({ uploads, channels, log, now } as never).removeDue();
  await expect.poll(() => begun.toSorted()).toEqual(['quick-x', 'slow-000', 'slow-001']);
});

it('files of an account are deleted, although more are in use than fit into a step; the step then waits for those', async () => {
  const store = createFileStore(database.db, { drop: async () => undefined }, testSealing);
  await store.ensureIndexes();
  const about = { filename: 'x.png', purpose: 'reference', media: { mediaType: 'image/png' } };
  const file = { account: 'leaver', key: 'k', name: 'x.png', bytes: 5, createdAt: 0, ...about };
  const ids = [...backlog.map((id) => `held-${id}`), 'one', 'two'];
  await Promise.all(
    ids.map(async (id) => {
      await store.begin({ id, ...file, expiresAt: now() + 1 });
      if (id !== 'two') await store.complete(id, now() + 1);
    }),
  );
  const removed: string[] = [];
  let isHeld = true;
  const storage = {
    async remove(path: string) {
      if (isHeld && path.startsWith('held')) throw new Error('AccessDenied: the object is under legal hold');
      removed.push(path);
    },
  };
  const deps = { store, storage, log, now };
  const whole = () => false;
  expect(await deleteFilesOf('leaver', whole, deps)).toBe(false);
  expect(removed.toSorted()).toEqual(['one/x.png']);
  isHeld = false;
  expect(await deleteFilesOf('leaver', whole, deps)).toBe(false);
  expect(removed).toHaveLength(1);
  for (const { id } of await store.listDue(now() + 3_600_000, 1_000)) await store.remove(id);
  expect(await deleteFilesOf('leaver', whole, deps)).toBe(true);
});
