import { setImmediate as turn } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import { TimeSlice } from '../../src/http/time-slice.ts';

function spin(): void {
  const endsAt = performance.now() + 10;
  while (performance.now() < endsAt);
}

async function until(isDone: () => boolean): Promise<number> {
  let turns = 0;
  for (; !isDone(); turns += 1) await turn();
  return turns;
}

it('works at once while nothing has taken its slice', () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const slice = new TimeSlice();
  const done: number[] = [];
  slice.run('holder', () => done.push(1));
  slice.run('holder', () => done.push(2));
  vi.useRealTimers();
  expect(done).toEqual([1, 2]);
});

it('yields to the event loop after each job that fills a slice, and keeps the order', async () => {
  const slice = new TimeSlice();
  const done: number[] = [];
  for (let number = 0; number < 5; number += 1) {
    slice.run('holder', () => {
      spin();
      done.push(number);
    });
  }
  expect(done).toEqual([0]);
  expect(await until(() => done.length === 5)).toBeGreaterThanOrEqual(4);
  expect(done).toEqual([0, 1, 2, 3, 4]);
});

it('also counts the time of callbacks that a job resolves', async () => {
  const slice = new TimeSlice();
  const done: number[] = [];
  for (let number = 0; number < 5; number += 1) {
    slice.later(
      'holder',
      () =>
        void Promise.resolve()
          .then(spin)
          .then(() => done.push(number)),
    );
  }
  expect(await until(() => done.length === 5)).toBeGreaterThanOrEqual(4);
});

it('lets an unfinished job continue after the others', async () => {
  const slice = new TimeSlice();
  const done: string[] = [];
  const again = (): void => {
    done.push('again');
    if (done.length < 4) slice.later('holder', again);
  };
  slice.later('holder', again);
  slice.later('holder', () => done.push('other'));
  await until(() => done.length === 4);
  expect(done).toEqual(['again', 'other', 'again', 'again']);
});

it('lets holders take turns, however many jobs one has', async () => {
  const slice = new TimeSlice();
  const done: string[] = [];
  const works = ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1'];
  for (const name of works) {
    slice.later(name.charAt(0), () => {
      spin();
      done.push(name);
    });
  }
  await until(() => done.length === works.length);
  expect(done).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4']);
});

it('a job waits only once, and a removed one does not run', async () => {
  const slice = new TimeSlice();
  let count = 0;
  const work = (): number => (count += 1);
  const other = (): never => {
    throw new Error('forgotten');
  };
  slice.later('holder', work);
  slice.later('holder', work);
  slice.later('other', other);
  slice.forget(other);
  await until(() => count > 0);
  for (let turns = 0; turns < 10; turns += 1) await turn();
  expect(count).toBe(1);
});

it('postponed turns run no jobs, but jobs wait for at most 64 of them', async () => {
  const slice = new TimeSlice();
  let done = 0;
  const waits: number[] = [];
  const work = (): void => void (done += 1);
  for (let turns = 0, since = 0; turns < 200; turns += 1, since += 1) {
    slice.putOff();
    slice.run('holder', work);
    await turn();
    if (done === 0) continue;
    waits.push(since);
    [done, since] = [0, 0];
  }
  expect(waits.length).toBeGreaterThanOrEqual(2);
  for (const wait of waits) expect(wait).toBeGreaterThanOrEqual(60);
});
