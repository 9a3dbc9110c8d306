import { expect, it } from 'vitest';
import { createTurns } from '../../src/base/turns.ts';
import { walk } from '../../src/base/walk.ts';

const letters = ['a', 'b', 'c'];

it('a walk that runs out of time is continued by the next one, even after a failure', async () => {
  const seen: string[] = [];
  const turns = createTurns((item: string) => item);
  for (const _ of letters) {
    let isOver = false;
    await walk(letters, {
      loop: 'stored bytes',
      turns,
      isOver: () => isOver,
      async run(item) {
        seen.push(item);
        isOver = true;
        throw new Error('the server did not answer');
      },
      onFailed: () => undefined,
    });
  }
  expect(seen).toEqual(letters);
});

it('holders are ordered by their last turn, and items of one holder keep their order', () => {
  const turns = createTurns((item: string) => item.charAt(0));
  turns.inOrder(['a1', 'a2', 'b1', 'c1']);
  turns.note('a1');
  turns.note('b1');
  turns.note('a2');
  expect(turns.inOrder(['a1', 'a2', 'b1', 'c1'])).toEqual(['c1', 'b1', 'a1', 'a2']);
});

it('a holder that has nothing left is forgotten', () => {
  const turns = createTurns((item: string) => item);
  turns.note('a');
  turns.inOrder([]);
  expect(turns.inOrder(['b', 'a'])).toEqual(['b', 'a']);
});

it('items that wait for a place do not start after the time is over', async () => {
  const [seen, waiting]: [string[], (() => void)[]] = [[], []];
  let isOver = false;
  const walked = walk(letters, {
    loop: 'stored bytes',
    isOver: () => isOver,
    async inPlace(item, job) {
      if (item !== 'a') await new Promise<void>((resolve) => void waiting.push(resolve));
      return job();
    },
    async run(item) {
      seen.push(item);
      return true;
    },
    onFailed: () => undefined,
  });
  await expect.poll(() => waiting.length).toBe(2);
  isOver = true;
  for (const go of waiting) go();
  expect(await walked).toEqual({ done: 1, failed: 0 });
  expect(seen).toEqual(['a']);
});
