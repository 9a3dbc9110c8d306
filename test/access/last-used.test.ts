import { expect, it } from 'vitest';
import { createLastUsed } from '../../src/access/last-used.ts';

function world() {
  const written: Record<string, number>[] = [];
  const errors: unknown[] = [];
  const clock = { now: 1000 };
  const mongo = { isAway: false };
  const lastUsed = createLastUsed({
    write: (used) => {
      if (mongo.isAway) return Promise.reject(new Error('away'));
      written.push(Object.fromEntries(used));
      return Promise.resolve();
    },
    onError: (error) => errors.push(error),
    now: () => clock.now,
  });
  return { lastUsed, written, errors, clock, mongo };
}

it('any number of uses are one write, of the last', async () => {
  const { lastUsed, written, clock } = world();
  for (let n = 0; n < 100; n += 1) {
    clock.now += 1;
    lastUsed.note(n % 2 === 0 ? 'even' : 'odd');
  }
  await lastUsed.flush();
  await lastUsed.flush();
  expect(written).toEqual([{ even: 1099, odd: 1100 }]);
});

it('what could not be written is written later, unless it was used again', async () => {
  const { lastUsed, written, errors, clock, mongo } = world();
  lastUsed.note('a');
  lastUsed.note('b');
  mongo.isAway = true;
  await lastUsed.flush();
  expect([written, errors.length]).toEqual([[], 1]);
  mongo.isAway = false;
  clock.now = 2000;
  lastUsed.note('b');
  await lastUsed.stop();
  expect(written).toEqual([{ a: 1000, b: 2000 }]);
});
