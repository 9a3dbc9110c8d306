import { expect, it } from 'vitest';
import { sumCosts } from '../../src/money/cost.ts';

const usd = (amount: string) => ({ amount, unit: 'USD' });

it('adds the costs of several calls exactly', () => {
  expect(sumCosts([usd('0.1'), usd('0.2')])).toEqual(usd('0.3'));
  expect(sumCosts([usd('0.035'), usd('12'), usd('999999999999.9')])).toEqual(usd('1000000000011.935'));
  expect(sumCosts([usd('7')])).toEqual(usd('7'));
});

it('has no sum if a call reported no cost, or one in another unit', () => {
  expect(sumCosts([])).toBeUndefined();
  expect(sumCosts([usd('1'), undefined])).toBeUndefined();
  expect(sumCosts([undefined, usd('1')])).toBeUndefined();
  expect(sumCosts([usd('1'), { amount: '1', unit: 'credits' }])).toBeUndefined();
});
