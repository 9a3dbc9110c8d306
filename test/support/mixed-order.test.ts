import { expect, it } from 'vitest';
import { mixed } from './mixed-order.ts';

it('puts the largest of each kind first and ends both kinds together', () => {
  const files = ['w1', 'c9', 'w5', 'c2', 'c7', 'c4', 'w3', 'c1', 'c3'];
  const order = mixed(
    files,
    (name) => name.startsWith('w'),
    (name) => Number(name.slice(1)),
  );
  expect(order).toEqual(['w5', 'c9', 'c7', 'w3', 'c4', 'c3', 'w1', 'c2', 'c1']);
});
