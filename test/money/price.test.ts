import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { defined } from '../../src/base/defined.ts';
import { measures, secondQuantity, tokenQuantity, wholeQuantity } from '../../src/money/measures.ts';
import type { Measure } from '../../src/money/measures.ts';
import { chargeOf, findLine, flagFacts, multiply, needsReview, textFacts } from '../../src/money/price.ts';
import type { Price, PriceBasis, PriceCondition, PriceFacts, PriceLine } from '../../src/money/price.ts';
import type { Quantity } from '../../src/money/reckoning.ts';
import type { SettleFacts } from '../../src/money/settle-facts.ts';
import { areContradictory, needsFormula, settle } from '../../src/money/settle.ts';

type Line = Omit<PriceLine, 'measure'>;
const price = ({
  measure = 'million_tokens',
  lines,
  ...fields
}: Partial<Omit<Price, 'lines'>> & {
  readonly measure?: Measure;
  readonly lines: readonly Line[];
}): Price => ({
  minimum: '0',
  ...fields,
  lines: lines.map((line) => ({ measure, ...line })),
});
const flat = (measure: Measure, amount: string): Price => price({ measure, lines: [{ price: amount }] });
const oneLine = (when: PriceCondition): Price => price({ lines: [{ when, price: '1' }] });
const lineFor = (list: Price, facts: PriceFacts) => findLine(list, 'million_tokens', facts);
const holdsFor = (when: PriceCondition, facts: PriceFacts) => lineFor(oneLine(when), facts) === 0;
const charged = (list: Price, quantity: Quantity, facts: PriceFacts = {}) => {
  const counts = Object.fromEntries(
    list.lines.map(({ measure }) => [measure, { quantity, source: 'upstream' as const }]),
  );
  return chargeOf(list, [{ facts, counts }]);
};

const seedance = price({
  lines: [
    { when: { video_input: true, resolution: ['1080p'] }, price: '4.70' },
    { when: { video_input: true }, price: '4.30' },
    { when: { resolution: ['1080p'] }, price: '7.70' },
    { price: '7.00' },
  ],
});

describe('a condition', () => {
  it.each(textFacts)('on %s is met for the values it lists, and not if the fact is unknown', (name) => {
    expect(holdsFor({ [name]: ['x', 'y'] }, { [name]: 'y' })).toBe(true);
    expect(holdsFor({ [name]: ['x', 'y'] }, { [name]: 'z' })).toBe(false);
    expect(holdsFor({ [name]: ['x', 'y'] }, {})).toBe(false);
    expect(holdsFor({ [name]: [] }, { [name]: 'x' })).toBe(false);
  });

  it.each(flagFacts)('on %s treats an absent flag as false', (name) => {
    expect(holdsFor({ [name]: true }, { [name]: true })).toBe(true);
    expect(holdsFor({ [name]: true }, { [name]: false })).toBe(false);
    expect(holdsFor({ [name]: true }, {})).toBe(false);
    expect(holdsFor({ [name]: false }, {})).toBe(true);
    expect(holdsFor({ [name]: false }, { [name]: true })).toBe(false);
  });

  it.each<[PriceCondition['duration'], number | undefined, boolean]>([
    [{ min: 5 }, 5, true],
    [{ min: 5 }, 4.999, false],
    [{ max: 10 }, 10, true],
    [{ max: 10 }, 10.001, false],
    [{ min: 5, max: 10 }, 7, true],
    [{ min: 5, max: 10 }, 11, false],
    [{}, 3, true],
    [{}, undefined, false],
    [{ min: 5 }, undefined, false],
  ])('on duration %j for %s is %s', (duration, fact, expected) => {
    expect(holdsFor({ duration }, fact === undefined ? {} : { duration: fact })).toBe(expected);
  });

  it('is met only if all of its parts are', () => {
    const when: PriceCondition = { resolution: ['720p'], draft: true, duration: { max: 5 } };
    const facts: PriceFacts = { resolution: '720p', draft: true, duration: 5 };
    expect(holdsFor(when, facts)).toBe(true);
    expect(holdsFor(when, { ...facts, resolution: '480p' })).toBe(false);
    expect(holdsFor(when, { ...facts, draft: false })).toBe(false);
    expect(holdsFor(when, { ...facts, duration: 6 })).toBe(false);
  });

  it('that tests nothing is always met, like a missing one', () => {
    expect(holdsFor({}, {})).toBe(true);
    expect(lineFor(price({ lines: [{ price: '1' }] }), {})).toBe(0);
  });
});

describe('lineFor', () => {
  it.each<[PriceFacts, number]>([
    [{ video_input: true, resolution: '1080p' }, 0],
    [{ video_input: true, resolution: '720p' }, 1],
    [{ resolution: '1080p' }, 2],
    [{ resolution: '480p' }, 3],
    [{}, 3],
  ])('returns the first line whose condition is met for %j', (facts, line) => {
    expect(lineFor(seedance, facts)).toBe(line);
  });

  it('finds none if no condition is met', () => {
    expect(lineFor(oneLine({ resolution: ['4k'] }), { resolution: '720p' })).toBeUndefined();
    expect(lineFor(price({ lines: [] }), {})).toBeUndefined();
  });
});

describe('chargeOf', () => {
  it.each([
    { of: 'tokens', list: seedance, quantity: tokenQuantity(108_900n), amount: 762_300n },
    { of: 'a single token', list: seedance, quantity: tokenQuantity(1n), amount: 7n },
    { of: 'seconds', list: flat('second', '0.05'), quantity: secondQuantity(7.5), amount: 375_000n },
    { of: 'images', list: flat('image', '0.02'), quantity: wholeQuantity(4), amount: 80_000n },
    { of: 'a call', list: flat('call', '1.25'), quantity: wholeQuantity(1), amount: 1_250_000n },
  ])('of $of', ({ list, quantity, amount }) => {
    expect(charged(list, quantity)?.amount).toBe(amount);
  });

  it.each([
    [1.0004, 1000n],
    [1.0005, 1001n],
    [1.0006, 1001n],
  ])('converts %d seconds from an upstream to milliseconds, half up', (seconds, numerator) => {
    expect(secondQuantity(seconds)).toEqual({ numerator, denominator: 1000n });
  });

  it('rounds once, half up, at the end', () => {
    const half = price({ lines: [{ price: '0.5' }] });
    expect(charged(half, tokenQuantity(1n))?.amount).toBe(1n);
    expect(charged(half, tokenQuantity(3n))?.amount).toBe(2n);
    const third = flat('second', '0.000001');
    expect(charged(third, secondQuantity(0.499))?.amount).toBe(0n);
    expect(charged(third, secondQuantity(0.5))?.amount).toBe(1n);
  });

  it('is never below the minimum, and shows which line was used', () => {
    const list = price({ minimum: '0.10', lines: [{ price: '7' }] });
    expect(charged(list, tokenQuantity(1n))).toMatchObject({
      amount: 100_000n,
      lines: [{ line: 0, quantity: { numerator: 1n, denominator: 1_000_000n } }],
    });
    expect(charged(list, tokenQuantity(1_000_000n))?.amount).toBe(7_000_000n);
  });

  it('is undefined if no line matches, because the minimum is not a price', () => {
    const list = price({ minimum: '5', lines: [{ when: { draft: true }, price: '1' }] });
    expect(charged(list, wholeQuantity(1))).toBeUndefined();
  });

  it('never falls when more is used', () => {
    const tokens = fc.bigInt({ min: 0n, max: 10n ** 12n });
    fc.assert(
      fc.property(tokens, tokens, (fewer, more) => {
        const [low, high] = [fewer, fewer + more].map((n) => charged(seedance, tokenQuantity(n))?.amount);
        expect(high).toBeGreaterThanOrEqual(low ?? 0n);
      }),
    );
  });
});

describe('multiply', () => {
  it.each([
    [100n, '1', 100n],
    [100n, '1.25', 125n],
    [3n, '1.5', 5n],
    [1n, '0.5', 1n],
    [1n, '0.499999', 0n],
    [7n, '0', 0n],
    [7n, 'nonsense', 7n],
  ])('%s × %s is %s', (amount, multiplier, product) => {
    expect(multiply(amount, multiplier)).toBe(product);
  });
});

describe('settle', () => {
  const basis = (list: Price, facts: PriceFacts = {}): PriceBasis => ({ price: list, facts, version: 'v1' });
  const settled = (list: Price, facts: SettleFacts, more: { estimatedTokens?: bigint } = {}) =>
    settle({ basis: basis(list), channel: 'c', facts, held: 999n, ...more });

  it('charges the usage that the upstream reports', () => {
    expect(settled(seedance, { usage: { completionTokens: 108_900, totalTokens: 200_000 } })).toMatchObject({
      amount: 762_300n,
      estimated: false,
      lines: [{ line: 3, quantity: '108900/1000000', source: 'upstream' }],
    });
  });

  it('uses the total if the completion is not reported', () => {
    expect(settled(seedance, { usage: { totalTokens: 1_000 } }).amount).toBe(7_000n);
  });

  it('uses the response’s resolution, ratio, size and duration instead of the request’s', () => {
    const facts: PriceFacts = { resolution: '720p', ratio: '1:1', size: 'small', duration: 4 };
    const lines: Line[] = [
      {
        when: { resolution: ['1080p'], ratio: ['16:9'], size: ['large'], duration: { min: 10 } },
        price: '2',
      },
      { price: '1' },
    ];
    const list = price({ measure: 'second', lines });
    const rendered: SettleFacts = { resolution: '1080p', ratio: '16:9', size: 'large', durationSeconds: 10 };
    const charge = (reported: SettleFacts) =>
      settle({ basis: basis(list, facts), channel: 'c', facts: reported, held: 1n });
    expect(charge(rendered)).toMatchObject({ amount: 20_000_000n, lines: [{ line: 0 }] });
    expect(charge({ durationSeconds: 4 })).toMatchObject({ amount: 4_000_000n, lines: [{ line: 1 }] });
  });

  it('keeps facts that only the request contains', () => {
    const list = price({
      measure: 'call',
      lines: [{ when: { video_input: true }, price: '2' }, { price: '1' }],
    });
    const input = { basis: basis(list, { video_input: true }), channel: 'c', facts: {}, held: 1n };
    expect(settle(input)).toMatchObject({ amount: 2_000_000n, lines: [{ line: 0 }] });
  });

  it('uses the price of the channel that served, which may not be the first', () => {
    const list = price({
      measure: 'call',
      lines: [{ when: { channel: ['second'] }, price: '3' }, { price: '1' }],
    });
    const input = { basis: basis(list, { channel: 'first' }), facts: {}, held: 1n };
    expect(settle({ ...input, channel: 'second' }).amount).toBe(3_000_000n);
    expect(settle({ ...input, channel: 'first' }).amount).toBe(1_000_000n);
  });

  it('uses the total if the completion is implausible', () => {
    expect(settled(seedance, { usage: { completionTokens: -1, totalTokens: 1_000 } }).amount).toBe(7_000n);
  });

  it('treats zero as not reported', () => {
    const nothing = { completionTokens: 0, totalTokens: 0 };
    expect(settled(seedance, { usage: { ...nothing, totalTokens: 1_000 } }).amount).toBe(7_000n);
    expect(settled(seedance, { usage: nothing })).toMatchObject({ amount: 999n, estimated: true });
    expect(settled(seedance, { usage: nothing }, { estimatedTokens: 1_000n })).toMatchObject({
      amount: 7_000n,
      estimated: true,
    });
    expect(needsFormula(flat('million_tokens', '1'), { usage: nothing })).toBe(true);
    expect(
      needsFormula(flat('million_tokens', '1'), { usage: { completionTokens: 0, totalTokens: 1 } }),
    ).toBe(false);
    expect(needsFormula(flat('second', '1'), {})).toBe(false);
    expect(settled(flat('image', '1'), { images: 0 })).toMatchObject({ amount: 999n, estimated: true });
    expect(settled(flat('second', '1'), { durationSeconds: 0 })).toMatchObject({
      amount: 999n,
      estimated: true,
    });
  });

  it('uses the formula if there is no usage, then the hold, and marks the charge as estimated', () => {
    expect(settled(seedance, {}, { estimatedTokens: 1_000_000n })).toMatchObject({
      amount: 7_000_000n,
      estimated: true,
    });
    expect(settled(seedance, {})).toMatchObject({ amount: 999n, estimated: true });
  });

  it('prefers usage to the formula', () => {
    const usage = { completionTokens: 10 };
    expect(settled(seedance, { usage }, { estimatedTokens: 1_000_000n })).toMatchObject({
      amount: 70n,
      estimated: false,
    });
  });

  it('charges the hold if the result has no price', () => {
    const list = price({ measure: 'call', lines: [{ when: { resolution: ['720p'] }, price: '1' }] });
    expect(settled(list, { resolution: '8k' })).toMatchObject({ amount: 999n, estimated: true });
  });

  it.each<[Measure, SettleFacts, bigint]>([
    ['second', { durationSeconds: 5.04 }, 5_040_000n],
    ['image', { images: 3 }, 3_000_000n],
    ['call', {}, 1_000_000n],
  ])('by the %s of %j', (measure, facts, amount) => {
    expect(settled(flat(measure, '1'), facts)).toMatchObject({
      amount,
      estimated: false,
    });
  });

  it('ignores a later change of the price', () => {
    const frozen: PriceBasis = JSON.parse(JSON.stringify(basis(seedance, { resolution: '1080p' })));
    const facts = { usage: { completionTokens: 1_000_000 } };
    expect(settle({ basis: frozen, channel: 'c', facts, held: 0n }).amount).toBe(7_700_000n);
  });

  it('never throws and never charges less than zero, whatever numbers an upstream reports', () => {
    const number = fc.oneof(fc.double(), fc.integer(), fc.constantFrom(NaN, Infinity, -Infinity, -0, 1e308));
    const facts = fc.record(
      {
        usage: fc.record({ completionTokens: number, totalTokens: number }, { requiredKeys: [] }),
        durationSeconds: number,
        images: number,
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(facts, fc.constantFrom(...measures), (reported, measure) => {
        const { amount } = settled(price({ measure, minimum: '0.01', lines: [{ price: '7' }] }), reported);
        expect(amount === 999n || amount >= 10_000n).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it.each<[Measure, SettleFacts]>([
    ['million_tokens', { usage: { completionTokens: -5 } }],
    ['million_tokens', { usage: { completionTokens: NaN } }],
    ['second', { durationSeconds: -1 }],
    ['second', { durationSeconds: Infinity }],
    ['image', { images: 1.5 }],
    ['million_tokens', { usage: { completionTokens: 1e300 } }],
  ])('treats an impossible %s of %j as not reported', (measure, facts) => {
    expect(settled(flat(measure, '1'), facts)).toMatchObject({
      amount: 999n,
      estimated: true,
    });
  });
});

describe('needsReview', () => {
  const list: Price = { minimum: '0', lines: [{ measure: 'call', price: '1' }] };
  it.each([
    [undefined, 1_000n, 3_000n, false],
    [undefined, 1_000n, 3_001n, true],
    [undefined, 0n, 1n, true],
    ['none', 1n, 1_000_000n, false],
    ['1.5', 1_000n, 1_500n, false],
    ['1.5', 1_000n, 1_501n, true],
    ['1', 1_000n, 1_001n, true],
    ['3', 1_000n, 10n, false],
  ])('above %s times the hold: held %s, charged %s: %s', (reviewAbove, held, amount, expected) => {
    const price = reviewAbove === undefined ? list : { ...list, reviewAbove };
    expect(needsReview(price, { held, amount })).toBe(expected);
  });
});

describe('an upstream’s numbers contradict each other', () => {
  const tokens = flat('million_tokens', '1');

  it.each<[string, number | undefined, number | undefined, boolean]>([
    ['one token of a hundred thousand', 1, 108_900, true],
    ['more than three times', 100, 301, true],
    ['three times', 100, 300, false],
    ['the same twice', 108_900, 108_900, false],
    ['a part that is larger than the whole', 108_901, 108_900, true],
    ['no total', 108_900, undefined, false],
    ['no completion', undefined, 108_900, false],
    ['a zero, which reports nothing', 0, 108_900, false],
    ['what no answer can mean', 1, 1e300, false],
  ])('%s: %s of %s', (_, completionTokens, totalTokens, expected) => {
    const usage = defined({ completionTokens, totalTokens });
    expect(areContradictory(usage, tokens)).toBe(expected);
  });

  it('uses the model’s own multiple, and does not apply if the check is disabled or tokens are not sold', () => {
    const usage = { completionTokens: 100, totalTokens: 250 };
    expect(areContradictory(usage, { ...tokens, reviewAbove: '2' })).toBe(true);
    expect(areContradictory(usage, { ...tokens, reviewAbove: '2.5' })).toBe(false);
    const worse = { completionTokens: 1, totalTokens: 108_900 };
    expect(areContradictory(worse, { ...tokens, reviewAbove: 'none' })).toBe(false);
    expect(areContradictory(worse, flat('second', '1'))).toBe(false);
  });
});
