import { afterAll, beforeAll, expect, it } from 'vitest';
import { createStayPlaces } from '../../src/capacity/stay-places.ts';
import { createStayWakes } from '../../src/capacity/stay-wakes.ts';
import { createWakeStore } from '../../src/store/wakes.ts';
import { openDatabase } from './support.ts';

let database: Awaited<ReturnType<typeof openDatabase>>;
beforeAll(async () => {
  database = await openDatabase();
});
afterAll(() => database.drop());

function workerProcess() {
  const store = createWakeStore(database.db, Date.now);
  const stays = createStayPlaces({ placesMax: () => 10, monotonic: Date.now });
  const errors: unknown[] = [];
  let reads = 0;
  let fails = false;
  const wakes = createStayWakes({
    stays,
    list: () => {
      reads += 1;
      return fails ? Promise.reject(new Error('mongo is away')) : store.list();
    },
    onError: (error) => errors.push(error),
  });
  return { store, stays, wakes, errors, reads: () => reads, fail: (now: boolean) => void (fails = now) };
}

it('a wake ends the wait of its task once, in whichever process that is', async () => {
  const [here, there] = [workerProcess(), workerProcess()];
  const meant = there.stays.enter({ queue: 'ark', account: 'a' }, 'wake-1');
  const others = [
    here.stays.enter({ queue: 'ark', account: 'a' }, 'wake-2'),
    there.stays.enter({ queue: 'ark', account: 'a' }, 'wake-3'),
  ];
  await here.store.add({ task: 'wake-1', id: 'first' });
  await Promise.all([here.wakes.run(), there.wakes.run()]);
  expect(meant?.endedBy()).toBe('woken');
  expect(others.map((place) => place?.endedBy())).toEqual([undefined, undefined]);
  meant?.leave();
  const next = there.stays.enter({ queue: 'ark', account: 'a' }, 'wake-1');
  await there.wakes.run();
  expect(next?.endedBy()).toBeUndefined();
  await here.store.add({ task: 'wake-1', id: 'second' });
  await there.wakes.run();
  expect(next?.endedBy()).toBe('woken');
});

it('costs nothing while no attempt waits', async () => {
  const { wakes, stays, reads } = workerProcess();
  await wakes.run();
  const place = stays.enter({ queue: 'ark', account: 'a' }, 'wake-4');
  await wakes.run();
  place?.leave();
  await wakes.run();
  expect(reads()).toBe(1);
});

it('a read that fails is reported, and the next one wakes', async () => {
  const { store, wakes, stays, errors, fail } = workerProcess();
  const place = stays.enter({ queue: 'ark', account: 'a' }, 'wake-5');
  await store.add({ task: 'wake-5', id: 'lost' });
  fail(true);
  await wakes.run();
  expect([errors.length, place?.endedBy()]).toEqual([1, undefined]);
  fail(false);
  await wakes.run();
  expect(place?.endedBy()).toBe('woken');
});

it('an old wake has no effect, although the database has not removed it yet', async () => {
  let at = Date.now();
  const store = createWakeStore(database.db, () => at);
  await store.add({ task: 'wake-6', id: 'old' });
  const isListed = async () => (await store.list()).some(({ task }) => task === 'wake-6');
  expect(await isListed()).toBe(true);
  at += 31_000;
  expect(await isListed()).toBe(false);
});
