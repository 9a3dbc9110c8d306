import { expect, it } from 'vitest';
import { once } from '../../src/base/once.ts';

it('creates a value once, and does not keep a failure', async () => {
  let made = 0;
  const get = once(async () => {
    made += 1;
    if (made === 1) throw new Error('EMFILE');
    return made;
  });
  expect((await Promise.allSettled([get(), get()])).map(({ status }) => status)).toEqual([
    'rejected',
    'rejected',
  ]);
  expect(await Promise.all([get(), get()])).toEqual([2, 2]);
  expect(await get()).toBe(2);
});
