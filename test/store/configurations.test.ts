import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { createConfigurationStore } from '../../src/store/configurations.ts';
import { openDatabase } from '../capacity/support.ts';
import { testSealing } from '../support/sealing.ts';
import { staleReads } from '../support/stale-reads.ts';

/** Publishes from a process that reads from a member which is behind after an election. */

let database: Awaited<ReturnType<typeof openDatabase>>;
beforeAll(async () => {
  database = await openDatabase();
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

it('an older configuration that is published again is in force again', async () => {
  const store = open();
  await store.publish(file('old'));
  const stale = await openStale();
  await store.publish(file('new'));
  expect(await stale.head()).toMatchObject({ version: 1, hash: 'old' });
  expect(await stale.confirmHead()).toMatchObject({ version: 2, hash: 'new' });
  expect(await stale.publish(file('old'))).toMatchObject({ version: 3, hash: 'old' });
  expect(await store.read()).toMatchObject({ version: 3, text: 'old' });
});

it('the configuration in force is not published again', async () => {
  const store = open();
  const stale = await openStale();
  await store.publish(file('only'));
  expect(await stale.publish(file('only'))).toMatchObject({ version: 1 });
});

it('a text that was published before is known', async () => {
  const store = open();
  const stale = await openStale();
  await store.publish(file('old'));
  await store.publish(file('new'));
  const known = ['old', 'new', 'never'].map((hash) => stale.wasPublished(hash));
  expect(await Promise.all(known)).toEqual([true, true, false]);
});
