import { setImmediate as turn } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import { TimeSlice } from '../../src/http/time-slice.ts';

/** Longer than a slice. */
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
  slice.run(() => done.push(1));
  slice.run(() => done.push(2));
  vi.useRealTimers();
  expect(done).toEqual([1, 2]);
});

it('gives the event loop a turn after each work that takes a slice, and keeps their order', async () => {
  const slice = new TimeSlice();
  const done: number[] = [];
  for (let number = 0; number < 5; number += 1) {
    slice.run(() => {
      spin();
      done.push(number);
    });
  }
  expect(done).toEqual([0]);
  expect(await until(() => done.length === 5)).toBeGreaterThanOrEqual(4);
  expect(done).toEqual([0, 1, 2, 3, 4]);
});

it('counts what a work resolves', async () => {
  const slice = new TimeSlice();
  const done: number[] = [];
  for (let number = 0; number < 5; number += 1) {
    slice.later(
      () =>
        void Promise.resolve()
          .then(spin)
          .then(() => done.push(number)),
    );
  }
  expect(await until(() => done.length === 5)).toBeGreaterThanOrEqual(4);
});

it('lets a work that has more to do continue after the others', async () => {
  const slice = new TimeSlice();
  const done: string[] = [];
  const again = (): void => {
    done.push('again');
    if (done.length < 4) slice.later(again);
  };
  slice.later(again);
  slice.later(() => done.push('other'));
  await until(() => done.length === 4);
  expect(done).toEqual(['again', 'other', 'again', 'again']);
});

it('a work waits once, and a forgotten one does not come', async () => {
  const slice = new TimeSlice();
  let count = 0;
  const work = (): number => (count += 1);
  const other = (): never => {
    throw new Error('forgotten');
  };
  slice.later(work);
  slice.later(work);
  slice.later(other);
  slice.forget(other);
  await until(() => count > 0);
  for (let turns = 0; turns < 10; turns += 1) await turn();
  expect(count).toBe(1);
});
