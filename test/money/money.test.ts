import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { divideHalfUp, formatMicros, microsPerUnit, parseMicros } from '../../src/money/money.ts';

const natural = fc.bigInt({ min: 0n, max: 10n ** 30n });
const positive = fc.bigInt({ min: 1n, max: 10n ** 20n });

describe('parseMicros', () => {
  it.each([
    ['0', 0n],
    ['-0', 0n],
    ['1', 1_000_000n],
    ['7.5', 7_500_000n],
    ['4.70', 4_700_000n],
    ['0.000001', 1n],
    ['-12.345678', -12_345_678n],
    ['007', 7_000_000n],
    ['999999999999.999999', 999_999_999_999_999_999n],
  ])('reads %s', (text, micros) => {
    expect(parseMicros(text)).toBe(micros);
  });

  it.each([
    '',
    ' 1',
    '1\n',
    '+1',
    '--1',
    '.5',
    '1.',
    '1,5',
    '1e3',
    '0x10',
    'NaN',
    'Infinity',
    '1_000',
    '٣',
    '0.0000001',
    '1000000000000',
  ])('rejects %j rather than guess', (text) => {
    expect(parseMicros(text)).toBeUndefined();
  });

  it('never throws, and reads every valid amount exactly', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const micros = parseMicros(text);
        expect(micros === undefined ? undefined : parseMicros(formatMicros(micros))).toBe(micros);
      }),
    );
  });
});

describe('formatMicros', () => {
  it.each([
    [0n, '0.000000'],
    [1n, '0.000001'],
    [-1n, '-0.000001'],
    [7_500_000n, '7.500000'],
    [-1_000_001n, '-1.000001'],
    [9_223_372_036_854_775_807n, '9223372036854.775807'],
  ])('writes %s with six places', (micros, text) => {
    expect(formatMicros(micros)).toBe(text);
  });

  it('is reversed by parseMicros for every amount of up to twelve digits', () => {
    const limit = 10n ** 18n - 1n;
    fc.assert(
      fc.property(fc.bigInt({ min: -limit, max: limit }), (micros) => {
        expect(parseMicros(formatMicros(micros))).toBe(micros);
      }),
    );
  });

  it('keeps the order of amounts of equal length', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: microsPerUnit * 10n - 1n }), (micros) => {
        const [lower, upper] = [formatMicros(micros), formatMicros(micros + 1n)];
        expect(lower.length < upper.length || lower < upper).toBe(true);
      }),
    );
  });
});

describe('divideHalfUp', () => {
  it.each([
    [0n, 1n, 0n],
    [1n, 2n, 1n],
    [1n, 3n, 0n],
    [2n, 3n, 1n],
    [3n, 2n, 2n],
    [5n, 2n, 3n],
    [499_999n, 1_000_000n, 0n],
    [500_000n, 1_000_000n, 1n],
    [500_001n, 1_000_000n, 1n],
    [1_499_999n, 1_000_000n, 1n],
    [1_500_000n, 1_000_000n, 2n],
  ])('%s / %s is %s', (numerator, denominator, quotient) => {
    expect(divideHalfUp(numerator, denominator)).toBe(quotient);
  });

  it('is the nearest integer, and the upper one if two are equally near', () => {
    fc.assert(
      fc.property(natural, positive, (numerator, denominator) => {
        const doubledError = 2n * (divideHalfUp(numerator, denominator) * denominator - numerator);
        expect(doubledError > -denominator && doubledError <= denominator).toBe(true);
      }),
    );
  });

  it('is exact if nothing needs rounding, and does not depend on how the fraction is written', () => {
    fc.assert(
      fc.property(natural, positive, positive, (numerator, denominator, factor) => {
        expect(divideHalfUp(numerator * denominator, denominator)).toBe(numerator);
        expect(divideHalfUp(numerator * factor, denominator * factor)).toBe(
          divideHalfUp(numerator, denominator),
        );
      }),
    );
  });

  it('never falls when the numerator grows', () => {
    fc.assert(
      fc.property(natural, natural, positive, (numerator, more, denominator) => {
        expect(divideHalfUp(numerator + more, denominator)).toBeGreaterThanOrEqual(
          divideHalfUp(numerator, denominator),
        );
      }),
    );
  });

  it.each([
    [-1n, 1n],
    [1n, 0n],
    [1n, -1n],
  ])('refuses %s / %s', (numerator, denominator) => {
    expect(() => divideHalfUp(numerator, denominator)).toThrow(RangeError);
  });
});
