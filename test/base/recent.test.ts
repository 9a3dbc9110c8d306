import { expect, it } from 'vitest';
import { createRecent } from '../../src/base/recent.ts';

it('values are cached for their lifetime, by the given clock', () => {
  let at = 1_000;
  const recent = createRecent<{ readonly n: number }>(2, { ttlMs: 500, now: () => at });
  recent.set('a', { n: 1 });
  at += 500;
  expect(recent.get('a')).toEqual({ n: 1 });
  at += 1;
  expect(recent.get('a')).toBeUndefined();
});

it.each([
  ['with', { ttlMs: 500, now: () => 1 }],
  ['without', undefined],
])('beyond the limit, the least recently used value is dropped, %s an expiry', (_, expiry) => {
  const recent = createRecent<{ readonly n: number }>(2, expiry);
  for (const n of [1, 2, 3]) recent.set(`${n}`, { n });
  expect(['1', '2', '3'].map((name) => recent.get(name)?.n)).toEqual([undefined, 2, 3]);
});
