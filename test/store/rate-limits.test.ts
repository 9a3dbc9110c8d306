import { afterAll, beforeAll, expect, it } from 'vitest';
import { createRateLimitStore } from '../../src/store/rate-limits.ts';
import { openDatabase } from '../capacity/support.ts';

let database: Awaited<ReturnType<typeof openDatabase>>;
beforeAll(async () => {
  database = await openDatabase();
  await createRateLimitStore(database.db).ensureIndexes();
});
afterAll(() => database.drop());

const minute = 60_000;
/** The time is far in the future, because MongoDB may remove expired counters at any moment. */
const first = 70_000_000 * minute;

it('every request of a minute has its own number, whichever process counts it', async () => {
  const processes = [1, 2, 3].map(() => createRateLimitStore(database.db));
  const counts = await Promise.all(
    Array.from({ length: 60 }, async (_, n) => processes[n % 3]?.count('key_1', first)),
  );
  expect(counts.map(Number).toSorted((a, b) => a - b)).toEqual(Array.from({ length: 60 }, (_, n) => n + 1));
});

it('another key and the next minute start at one', async () => {
  const limits = createRateLimitStore(database.db);
  await limits.count('key_2', first);
  expect(await limits.count('key_2', first)).toBe(2);
  expect(await limits.count('key_3', first)).toBe(1);
  expect(await limits.count('key_2', first + minute)).toBe(1);
});

it('a counter is removed by the database itself, minutes after its minute', async () => {
  const limits = createRateLimitStore(database.db);
  await limits.count('key_4', first);
  const counters = database.db.collection<{ _id: string }>('rate_limits');
  expect(await counters.findOne({ _id: `key_4:${first}` })).toMatchObject({
    expires: new Date(first + 5 * minute),
  });
  const index = (await counters.indexes()).find(({ name }) => name === 'expires');
  expect(index).toMatchObject({ key: { expires: 1 }, expireAfterSeconds: 0 });
});
