import { expect, it } from 'vitest';
import { createLastUsed } from '../../src/access/last-used.ts';

function world() {
  const writes: (readonly [id: string, at: number])[][] = [];
  const errors: unknown[] = [];
  const clock = { now: 1000 };
  const mongo = { isAway: false };
  const lastUsed = createLastUsed({
    async write(uses) {
      if (mongo.isAway) throw new Error('away');
      writes.push([...uses]);
    },
    onError: (error) => errors.push(error),
    now: () => clock.now,
  });
  return { lastUsed, writes, errors, clock, mongo };
}

it('many uses of many keys lead to a single write of the last uses', async () => {
  const { lastUsed, writes, clock } = world();
  for (let n = 0; n < 100; n += 1) {
    clock.now += 1;
    lastUsed.note(n % 2 === 0 ? 'even' : 'odd');
  }
  await lastUsed.flush();
  await lastUsed.flush();
  expect(writes).toEqual([
    [
      ['even', 1099],
      ['odd', 1100],
    ],
  ]);
});

it('a use that could not be written is written later, unless a newer use has replaced it', async () => {
  const { lastUsed, writes, errors, clock, mongo } = world();
  lastUsed.note('a');
  lastUsed.note('b');
  mongo.isAway = true;
  await lastUsed.flush();
  expect([writes, errors.length]).toEqual([[], 1]);
  mongo.isAway = false;
  clock.now = 2000;
  lastUsed.note('b');
  await lastUsed.stop();
  expect(writes.map((uses) => Object.fromEntries(uses))).toEqual([{ a: 1000, b: 2000 }]);
});
