import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDuties } from '../../src/store/duties.ts';
import { openDatabase } from '../capacity/support.ts';

let database: Awaited<ReturnType<typeof openDatabase>>;
let clock = 1_000;
beforeAll(async () => {
  database = await openDatabase();
});
afterAll(() => database.drop());

/** As a process of its own would. */
const hold = (duty: string, holder: string) => createDuties(database.db, () => clock).hold(duty, holder, 100);

it('is one process’s as long as it comes back in time', async () => {
  const holders = ['a', 'b', 'c', 'd'];
  const answers = await Promise.all(holders.map((holder) => hold('count', holder)));
  expect(answers.filter(Boolean)).toHaveLength(1);
  const [holder = '', other = ''] = holders.toSorted(
    (a, b) => Number(answers[holders.indexOf(b)]) - Number(answers[holders.indexOf(a)]),
  );
  clock += 99;
  expect(await hold('count', other)).toBe(false);
  expect(await hold('count', holder)).toBe(true);
  clock += 99;
  expect(await hold('count', other)).toBe(false);
  clock += 1;
  expect(await hold('count', other)).toBe(true);
  expect(await hold('count', holder)).toBe(false);
});

it('is apart from other duties', async () => {
  expect(await hold('one', 'a')).toBe(true);
  expect(await hold('two', 'b')).toBe(true);
});
