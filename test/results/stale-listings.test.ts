import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createLogger } from '../../src/observability/log.ts';
import { createResultCopier } from '../../src/results/result-copier.ts';
import { lateWriteMs } from '../../src/results/storage.ts';
import { createFileUploadStore } from '../../src/store/file-uploads.ts';
import { createResultCopyStore } from '../../src/store/result-copies.ts';
import type { ResultCopy, ResultCopyStore } from '../../src/store/result-copies.ts';
import { openDatabase } from '../capacity/support.ts';
import { testSealing } from '../support/sealing.ts';

/** Tests what happens if another process changes an item after it was listed. */

const startedAt = 1_000_000_000_000;
let time = startedAt;
const now = () => time;
const log = createLogger({ level: 'silent', format: 'json' });

let database: Awaited<ReturnType<typeof openDatabase>>;
let copies: ResultCopyStore;
beforeAll(async () => {
  database = await openDatabase();
  copies = createResultCopyStore(database.db);
  await copies.ensureIndexes();
});
afterAll(() => database.drop());
beforeEach(() => void (time = startedAt));

/** Returns a copier that calls `meanwhile` after deleting the first file. */
function copierWith(meanwhile: () => Promise<void>) {
  const removed: string[] = [];
  const storage = {
    async remove(path: string) {
      removed.push(path);
      if (removed.length === 1) await meanwhile();
    },
  };
  const deps = { copies, storage, retentionSeconds: 3_600, log, now };
  return { removed, ...createResultCopier(deps as never) };
}

const due = { names: ['0.png'], tries: 1, dueAt: startedAt - 1, channel: 'c' } as const;

describe.each<ResultCopy['state']>(['stored', 'unused', 'gave_up', 'removed'])(
  'of a copy that is %s',
  (state) => {
    it('a file is deleted later if its name was recorded during the deletion', async () => {
      const task = `later-${state}`;
      await copies.write({ ...due, task, state });
      const copier = copierWith(() => copies.begin({ task, channel: 'c' }, '1.png', now()));
      await copier.deleteExpired();
      expect(await copies.find(task)).toMatchObject({ state, names: ['0.png', '1.png'] });
      await copier.deleteExpired();
      expect(copier.removed).toEqual([`${task}/0.png`, `${task}/0.png`, `${task}/1.png`]);
      expect((await copies.find(task))?.names ?? []).toEqual([]);
    });
  },
);

describe.each(['stored', 'retry'] as const)('an attempt that ends as %s', (state) => {
  it('a removed copy stays removed, and its file is deleted later', async () => {
    const task = `revived-${state}`;
    await copies.write({ ...due, task, state: 'retry' });
    const copier = copierWith(async () => {
      await copies.begin({ task, channel: 'c' }, '1.png', now());
      await copies.remove(task, now() + 1);
      await copies.write({ ...due, task, state, names: ['1.png'] });
    });
    expect(await copier.remove([task])).toEqual([task]);
    expect(await copies.find(task)).toEqual({
      ...due,
      task,
      state: 'removed',
      names: ['0.png', '1.png'],
      dueAt: now() + lateWriteMs,
    });
    time += lateWriteMs + 1;
    await copier.deleteExpired();
    expect(copier.removed.slice(1)).toEqual([`${task}/0.png`, `${task}/1.png`]);
    expect(await copies.find(task)).toBeUndefined();
  });
});

it('an attempt keeps the names that a concurrent one has recorded, and its success removes the error', async () => {
  const task = 'two-attempts';
  await copies.write({ ...due, task, state: 'retry', error: 'timeout' });
  await copies.begin({ task, channel: 'c' }, '1.png', now());
  await copies.write({ ...due, task, state: 'stored', names: ['2.png'] });
  expect(await copies.find(task)).toEqual({
    ...due,
    task,
    state: 'stored',
    names: ['0.png', '1.png', '2.png'],
  });
});

it('a retry that fails does not postpone a copy that another process has made meanwhile', async () => {
  const task = 'made-meanwhile';
  await copies.write({ ...due, task, state: 'retry' });
  const tasks = {
    async find() {
      await copies.write({ ...due, task, state: 'stored', dueAt: now() + 5 });
      throw new Error('the connection was closed');
    },
  };
  const { failed } = await createResultCopier({
    copies,
    tasks,
    retentionSeconds: 1,
    log,
    now,
  } as never).retryDue();
  expect(failed).toBe(1);
  expect(await copies.find(task)).toMatchObject({ state: 'stored', dueAt: now() + 5 });
});

it('an upload that was claimed again after it was listed keeps its record', async () => {
  const uploads = createFileUploadStore(database.db, now, testSealing);
  await uploads.ensureIndexes();
  const key = { file: 'f', channel: 'c', credential: 'k' };
  await uploads.claim(key, 'first');
  await uploads.complete(key, 'first', {
    id: 'u1',
    url: 'https://a.example',
    usableUntil: now(),
    dueAt: now(),
  });
  const [listed] = await uploads.listDue(10);
  if (listed === undefined) throw new Error('nothing is due');
  expect(await uploads.claim(key, 'second')).toEqual({ kind: 'ours' });
  await uploads.remove(listed);
  await uploads.postpone(listed, 0);
  const ready = { id: 'u2', url: 'https://b.example', usableUntil: now() + 9, dueAt: now() + 9 };
  expect(await uploads.complete(key, 'second', ready)).toBe(true);
  expect(await uploads.claim(key, 'third')).toEqual({ kind: 'ready', url: ready.url });
});
