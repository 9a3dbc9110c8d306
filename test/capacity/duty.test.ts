import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDuty } from '../../src/capacity/duty.ts';
import { createDuties } from '../../src/store/duties.ts';
import { openDatabase } from './support.ts';

let database: Awaited<ReturnType<typeof openDatabase>>;
beforeAll(async () => {
  database = await openDatabase();
});
afterAll(() => database.drop());

function newProcess(name: string, clock = { at: 1_000 }) {
  const duty = createDuty({ name, duties: createDuties(database.db), silenceMs: 100, now: () => clock.at });
  return { duty, clock };
}

it('belongs to one process for as long as that process reports', async () => {
  const processes = [1, 2, 3, 4].map((days) => newProcess('count', { at: days * 86_400_000 }));
  const answers = await Promise.all(processes.map(({ duty }) => duty()));
  expect(answers.filter(Boolean)).toHaveLength(1);
  const holder = processes[answers.indexOf(true)] ?? expect.fail();
  const [other = expect.fail(), third = expect.fail()] = processes.filter((each) => each !== holder);
  expect([await other.duty(), await third.duty()]).toEqual([false, false]);
  other.clock.at += 99;
  expect(await other.duty()).toBe(false);
  // The holder keeps the duty, no matter how late it asks. After that, the other processes must wait for the whole
  // period again.
  holder.clock.at += 10_000;
  expect(await holder.duty()).toBe(true);
  other.clock.at += 99;
  expect(await other.duty()).toBe(false);
  other.clock.at += 100;
  expect(await other.duty()).toBe(true);
  expect([await holder.duty(), await third.duty()]).toEqual([false, false]);
});

it('is taken by only one of several processes that find it abandoned at the same moment', async () => {
  const [first, ...others] = [1, 2, 3].map(() => newProcess('left'));
  expect(await first?.duty()).toBe(true);
  await Promise.all(others.map(({ duty }) => duty()));
  for (const { clock } of others) clock.at += 100;
  const answers = await Promise.all(others.map(({ duty }) => duty()));
  expect(answers.filter(Boolean)).toHaveLength(1);
});

it('is independent of other duties', async () => {
  expect([await newProcess('one').duty(), await newProcess('two').duty()]).toEqual([true, true]);
});
