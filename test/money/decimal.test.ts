import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  addAmounts,
  compareDecimals,
  formatDecimal,
  parseDecimal,
  roundedTo,
  shifted,
} from '../../src/money/decimal.ts';

const read = (text: string) => {
  const number = parseDecimal(text);
  if (number === undefined) throw new Error(text);
  return number;
};

it.each([
  ['0.350', '0.35'],
  ['12', '12'],
  ['-0.5', '-0.5'],
  ['+3.0', '3'],
  ['1e-06', '0.000001'],
  ['2.5E3', '2500'],
  ['-0', '0'],
  ['100', '100'],
])('%s is %s', (text, shown) => {
  expect(formatDecimal(read(text))).toBe(shown);
});

it.each(['', ' 1', '1,5', '1.', '.5', '$1', 'NaN', '0x1', '1e999', '1e-99', '9'.repeat(31)])(
  '%j is not a number',
  (text) => {
    expect(parseDecimal(text)).toBeUndefined();
  },
);

it.each([
  ['0.0000005', '0.000001'],
  ['0.00000049', '0'],
  ['-0.0000005', '-0.000001'],
  ['7', '7'],
])('%s in six places is %s', (text, shown) => {
  expect(formatDecimal(roundedTo(6, read(text)))).toBe(shown);
});

it('counts in a smaller unit', () => {
  expect(formatDecimal(shifted(9, read('45000000')))).toBe('0.045');
});

it('adds exactly, in any order, whatever the places', () => {
  const number = fc
    .tuple(fc.bigInt({ min: -(10n ** 18n), max: 10n ** 18n }), fc.integer({ min: 0, max: 12 }))
    .map(([digits, places]) => formatDecimal({ digits, places }));
  fc.assert(
    fc.property(number, number, number, (a, b, c) => {
      expect(addAmounts(addAmounts(a, b), c)).toBe(addAmounts(a, addAmounts(c, b)));
      expect(Math.sign(compareDecimals(read(a), read(b)))).toBe(
        -Math.sign(compareDecimals(read(b), read(a))) + 0,
      );
    }),
  );
  expect(addAmounts('0.1', '0.2')).toBe('0.3');
});
