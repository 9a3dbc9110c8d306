import { expect, it } from 'vitest';
import { costOfUnits, optionalAmount, vendorCost } from '../../../src/providers/shared/vendor-cost.ts';

it('reads amounts of decimal digits, at most fifteen on each side of the point', () => {
  const longest = `${'9'.repeat(15)}.${'9'.repeat(15)}`;
  expect(['4.00', 12, 0.035, longest].map((each) => optionalAmount.parse(each))).toEqual([
    '4.00',
    '12',
    '0.035',
    longest,
  ]);
  for (const each of [
    `1${'0'.repeat(15)}`,
    `0.${'1'.repeat(16)}`,
    1e21,
    1e-7,
    -1,
    '-1',
    '1e3',
    'x',
    '',
    null,
  ])
    expect(optionalAmount.parse(each)).toBeUndefined();
});

it('is absent if nothing is charged', () => {
  expect(vendorCost('0.50', 'credits')).toEqual({ amount: '0.50', unit: 'credits' });
  for (const amount of ['0', '0.00', undefined]) expect(vendorCost(amount, 'credits')).toBeUndefined();
});

it('multiplies the count by the unit price exactly', () => {
  expect(costOfUnits('3.5', '0.014', 'USD')).toEqual({ amount: '0.049', unit: 'USD' });
  expect(costOfUnits(350_000_000, '0.0000000001', 'USD')).toEqual({ amount: '0.035', unit: 'USD' });
  expect(costOfUnits(20_000_000_000, '0.0000000001', 'USD')).toEqual({ amount: '2', unit: 'USD' });
  for (const units of [0, undefined, 'many', Number.NaN])
    expect(costOfUnits(units, '1', 'USD')).toBeUndefined();
});
