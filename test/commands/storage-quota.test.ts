import { MongoNetworkError } from 'mongodb';
import { afterAll, describe, expect, it } from 'vitest';
import { createStoredBytesStore } from '../../src/store/stored-bytes.ts';
import { createStorageQuota, type StorageQuotaDeps } from '../../src/commands/storage-quota.ts';
import { openDatabase } from '../capacity/support.ts';

const dayMs = 86_400_000;
const start = Date.UTC(2027, 0, 10, 12);
let clock = start;
const now = () => clock;
const database = await openDatabase();
const store = createStoredBytesStore(database.db, now);
await store.ensureIndexes();
afterAll(() => database.drop());

const errors: unknown[] = [];
const open = (change: Partial<StorageQuotaDeps> = {}) =>
  createStorageQuota({ store, bytesMax: 1_000, onError: (error) => errors.push(error), now, ...change });

describe('the bytes that an account has stored', () => {
  it('are refused at the limit, and the error contains the usage, the limit, and the day on which the usage shrinks', async () => {
    clock = start;
    const quota = open();
    await quota.check('full');
    quota.note('full', 400, clock + 30 * dayMs);
    quota.note('full', 599, clock + 3 * dayMs);
    await quota.check('full');
    quota.note('full', 1, clock + 30 * dayMs);
    await expect(quota.check('full')).rejects.toMatchObject({
      code: 'storage_quota_exceeded',
      status: 429,
      message: expect.stringMatching(
        / use 1000 bytes, .* limit is 1000\. .* next deletion is on 2027-01-14\./,
      ),
    });
    await quota.check('another');
  });

  it('decrease after the day on which some are deleted', async () => {
    clock = start;
    const quota = open();
    quota.note('shrinking', 600, clock + dayMs);
    quota.note('shrinking', 600, clock + 33 * dayMs);
    await expect(quota.check('shrinking')).rejects.toThrow('1200 bytes');
    clock += dayMs;
    await expect(quota.check('shrinking')).rejects.toThrow('1200 bytes');
    clock += dayMs;
    await quota.check('shrinking');
    await quota.flush();
    await open().check('shrinking');
    quota.note('shrinking', 400, clock + dayMs);
    await expect(quota.check('shrinking')).rejects.toThrow('1000 bytes');
  });

  it('are known to other processes within fifteen seconds, and to those that start', async () => {
    clock = start;
    const [first, second] = [open(), open()];
    await Promise.all([first, second].map((quota) => quota.check('shared')));
    first.note('shared', 500, clock + dayMs);
    second.note('shared', 500, clock + dayMs);
    await Promise.all([first, second].map((quota) => quota.flush()));
    await first.check('shared');
    clock += 10_001;
    for (const quota of [first, second, open()])
      await expect(quota.check('shared')).rejects.toThrow('1000 bytes');
  });

  it('are read from the database at most once in ten seconds', async () => {
    clock = start;
    let reads = 0;
    const quota = open({ store: { ...store, find: (account) => ((reads += 1), store.find(account)) } });
    for (let times = 0; times < 20; times += 1) {
      await quota.check('busy');
      quota.note('busy', 1, clock + dayMs);
    }
    expect(reads).toBe(1);
    clock += 10_001;
    await quota.check('busy');
    expect(reads).toBe(2);
  });

  it('that could not be recorded are counted, and recorded once the database is back', async () => {
    clock = start;
    let isAway = true;
    const add: typeof store.add = (...sum) =>
      isAway ? Promise.reject(new Error('away')) : store.add(...sum);
    const quota = open({ store: { ...store, add } });
    quota.note('unlucky', 1_000, clock + dayMs);
    await quota.flush();
    expect(errors).toEqual([new Error('away')]);
    await expect(quota.check('unlucky')).rejects.toThrow('1000 bytes');
    isAway = false;
    await quota.stop();
    await quota.flush();
    await expect(open().check('unlucky')).rejects.toThrow('1000 bytes');
  });

  it('are not written account by account in an outage, and none are lost', async () => {
    clock = start;
    let isAway = true;
    let tries = 0;
    const add: typeof store.add = (...sum) => {
      tries += 1;
      return isAway ? Promise.reject(new MongoNetworkError('away')) : store.add(...sum);
    };
    const quota = open({ store: { ...store, add } });
    const accounts = ['away-1', 'away-2', 'away-3'];
    for (const account of accounts) quota.note(account, 1_000, clock + dayMs);
    await quota.flush();
    expect(tries).toBe(1);
    isAway = false;
    await quota.stop();
    for (const account of accounts) await expect(open().check(account)).rejects.toThrow('1000 bytes');
  });

  it('are irrelevant if the limit is disabled', async () => {
    clock = start;
    const quota = open({ bytesMax: 0 });
    quota.note('any', Number.MAX_SAFE_INTEGER, clock + dayMs);
    await expect(quota.check('any')).resolves.toBeUndefined();
  });
});
