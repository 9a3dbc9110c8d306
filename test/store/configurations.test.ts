import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { createConfigurationStore } from '../../src/store/configurations.ts';
import { openDatabase } from '../capacity/support.ts';
import { testSealing } from '../support/sealing.ts';
import { staleReads } from '../support/stale-reads.ts';

let database: Awaited<ReturnType<typeof openDatabase>>;
beforeAll(async () => {
  database = await openDatabase();
  await open().ensureIndexes();
});
beforeEach(async () => {
  await database.db.collection('configuration').deleteMany({});
  await database.db.collection('replaced_configurations').deleteMany({});
});
afterAll(() => database.drop());

const open = (db = database.db) => createConfigurationStore(db, testSealing);
const openStale = async () =>
  open(await staleReads(database.db, ['configuration', 'replaced_configurations']));
const file = (hash: string) => ({ text: hash, hash, currency: 'USD', by: 'ada', node: 'n', at: 1 });

it('an older configuration takes effect when it is republished', async () => {
  const store = open();
  await store.publish(file('old'));
  const stale = await openStale();
  await store.publish(file('new'));
  expect(await stale.head()).toMatchObject({ version: 1, hash: 'old' });
  expect(await stale.confirmHead()).toMatchObject({ version: 2, hash: 'new' });
  expect(await stale.publish(file('old'))).toMatchObject({ version: 3, hash: 'old' });
  expect(await store.read()).toMatchObject({ version: 3, text: 'old' });
});

it('every earlier version is kept with its text and reason', async () => {
  const store = open();
  for (const hash of ['a', 'b', 'a', 'c']) await store.publish({ ...file(hash), reason: `as ${hash}` });
  const replaced = (await store.replaced()).map(({ version, hash, reason }) => [version, hash, reason]);
  expect(replaced).toEqual([
    [3, 'a', 'as a'],
    [2, 'b', 'as b'],
    [1, 'a', 'as a'],
  ]);
  expect(await Promise.all([1, 2, 3, 4].map((version) => store.textOf(version)))).toEqual([
    'a',
    'b',
    'a',
    undefined,
  ]);
});

it('a version that follows another one is published only while that one is active', async () => {
  const store = open();
  await store.publish(file('first'));
  const next = { ...file('draft'), isDraft: true } as const;
  expect(await store.publishAfter(1, next)).toMatchObject({ version: 2, file: 'first' });
  expect(await store.publishAfter(1, { ...next, hash: 'late' })).toBeUndefined();
  const both = ['x', 'y'].map((hash) => store.publishAfter(2, { ...next, hash, text: hash }));
  expect((await Promise.all(both)).filter((head) => head !== undefined)).toHaveLength(1);
  expect(await store.head()).toMatchObject({ version: 3, file: 'first' });
  const byFile = await store.publish(file('second'));
  expect([byFile.version, byFile.file]).toEqual([4, undefined]);
});

it('the active configuration is not published again', async () => {
  const store = open();
  const stale = await openStale();
  await store.publish(file('only'));
  expect(await stale.publish(file('only'))).toMatchObject({ version: 1 });
});

it('a text that was published before is recognised', async () => {
  const store = open();
  const stale = await openStale();
  await store.publish(file('old'));
  await store.publish(file('new'));
  const known = ['old', 'new', 'never'].map((hash) => stale.wasPublished(hash));
  expect(await Promise.all(known)).toEqual([true, true, false]);
});
