import { expect, it } from 'vitest';
import { expectedQuantity, priceUnits, settle } from '../../src/money/price.ts';
import type { Extent, PriceUnit } from '../../src/money/price.ts';
import type { SettleFacts } from '../../src/money/settle-facts.ts';

interface Example {
  readonly extent: Omit<Extent, 'tokens'> & { readonly tokens?: bigint };
  /** Of the request, as numerator / denominator. */
  readonly expected: string;
  readonly facts: SettleFacts;
  /** Of the response. */
  readonly reported: string;
}

/** A unit without an example does not compile. */
const examples: Readonly<Record<PriceUnit, Example>> = {
  million_tokens: {
    extent: { tokens: 108_900n },
    expected: '108900/1000000',
    facts: { usage: { completionTokens: 100_000, totalTokens: 120_000 } },
    reported: '100000/1000000',
  },
  second: {
    extent: { seconds: 5 },
    expected: '5000/1000',
    facts: { durationSeconds: 5.042 },
    reported: '5042/1000',
  },
  image: { extent: { images: 4 }, expected: '4/1', facts: { images: 3 }, reported: '3/1' },
  call: { extent: {}, expected: '1/1', facts: {}, reported: '1/1' },
};

it.each(priceUnits)('%s: what a request comes to, and what its response reports', (unit) => {
  const { extent, expected, facts, reported } = examples[unit];
  const { tokens, ...rest } = extent;
  const quantity = expectedQuantity(unit, { ...rest, tokens: () => tokens });
  expect(`${quantity?.numerator}/${quantity?.denominator}`).toBe(expected);
  const price = { unit, minimum: '0', rules: [{ price: '1' }] };
  const basis = { price, facts: {}, version: 'v' };
  const settlement = settle({ basis, channel: 'one', facts, held: 1n });
  expect(settlement).toMatchObject({ quantity: reported, estimated: false });
});

it.each(priceUnits.filter((unit) => unit !== 'call'))(
  '%s: without a report the hold is charged, as an estimate',
  (unit) => {
    const basis = { price: { unit, minimum: '0', rules: [{ price: '1' }] }, facts: {}, version: 'v' };
    expect(settle({ basis, channel: 'one', facts: {}, held: 7n })).toMatchObject({
      amount: 7n,
      estimated: true,
    });
  },
);
