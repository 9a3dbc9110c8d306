import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatMicros } from '../../src/money/money.ts';
import { measures } from '../../src/money/measures.ts';
import { atMost, settle } from '../../src/money/settle.ts';
import type { Price, PriceBasis } from '../../src/money/price.ts';
import type { SettleFacts } from '../../src/money/settle-facts.ts';
import { readHoldReckoning, readSettleReckoning } from '../../src/money/ledger-basis.ts';
import { chargeImages } from '../../src/money/charge.ts';
import { reckoned } from './reckoned.ts';

const decimal = fc.bigInt({ min: 0n, max: 10n ** 10n }).map(formatMicros);
const price: fc.Arbitrary<Price> = fc.record({
  minimum: fc.oneof(fc.constant('0'), decimal),
  lines: fc.array(
    fc.record({
      measure: fc.constantFrom(...measures),
      when: fc.record({ resolution: fc.constant(['720p']) }, { requiredKeys: [] }),
      price: decimal,
      beyond: fc.constantFrom(0, 1, 2.5),
    }),
    { minLength: 1, maxLength: 6 },
  ),
});
const reported: fc.Arbitrary<SettleFacts> = fc.record(
  {
    usage: fc.record(
      { completionTokens: fc.integer({ min: 0, max: 10 ** 9 }), totalTokens: fc.integer() },
      { requiredKeys: [] },
    ),
    durationSeconds: fc.double({ min: 0, max: 1000, noNaN: true }),
    inputSeconds: fc.integer({ min: 0, max: 100 }),
    inputImages: fc.integer({ min: 0, max: 20 }),
    resolution: fc.constantFrom('720p', '8k'),
    images: fc.integer({ min: 0, max: 4 }),
  },
  { requiredKeys: [] },
);
const held = fc.bigInt({ min: 0n, max: 10n ** 12n });
const tokens = fc.option(fc.bigInt({ min: 1n, max: 10n ** 9n }), { nil: undefined });
const basisOf = (list: Price, own?: Price): PriceBasis => ({
  price: list,
  facts: { resolution: '720p' },
  version: 'v',
  ...(own === undefined ? {} : { channels: { own } }),
});

describe('the steps of a settlement', () => {
  it('add up to its amount', () => {
    fc.assert(
      fc.property(fc.tuple(price, price), reported, held, tokens, ([list, own], facts, hold, formula) => {
        for (const channel of ['own', 'other']) {
          const input = { basis: basisOf(list, own), channel, facts, held: hold };
          const settlement = settle({
            ...input,
            ...(formula === undefined ? {} : { estimatedTokens: formula }),
          });
          expect(reckoned(settlement)).toBe(formatMicros(settlement.amount));
          const limited = atMost(settlement, hold);
          expect(reckoned(limited)).toBe(formatMicros(limited.amount));
          expect(limited.amount <= hold).toBe(true);
          expect(settlement.rules_of).toBe(channel === 'own' ? 'channel' : 'model');
        }
      }),
    );
  });

  it('add up to the amount for the images that arrived', () => {
    const arrived = fc.integer({ min: 0, max: 4 });
    fc.assert(
      fc.property(price, arrived, held, (list, images, hold) => {
        const input = { basis: { ...basisOf(list), most: { images: 3 } }, channel: 'one', held: hold };
        const settlement = chargeImages({ ...input, facts: { images, size: '2K', quality: 'high' } });
        expect(reckoned(settlement)).toBe(formatMicros(settlement.amount));
      }),
    );
  });

  it('can be read from their form in the ledger', () => {
    fc.assert(
      fc.property(price, reported, held, (list, facts, hold) => {
        const { amount, ...settlement } = settle({ basis: basisOf(list), channel: 'c', facts, held: hold });
        const basis = JSON.stringify({ version: 'v', ...settlement, amount: amount.toString() });
        expect(readSettleReckoning(basis)?.steps).toEqual(settlement.steps);
        expect(readHoldReckoning(JSON.stringify({ hold: settlement }))?.steps).toEqual(settlement.steps);
      }),
    );
    for (const text of [undefined, '', '{', 'null', '{"hold":{}}', '{"steps":[]}']) {
      expect([readSettleReckoning(text), readHoldReckoning(text)]).toEqual([undefined, undefined]);
    }
  });

  it('show where its facts and its quantity come from', () => {
    const list: Price = { minimum: '0', lines: [{ measure: 'second', price: '1' }] };
    const facts = { durationSeconds: 7, resolution: '1080p' };
    expect(settle({ basis: basisOf(list), channel: 'c', facts, held: 1n })).toMatchObject({
      facts: { channel: 'c', resolution: '1080p', duration: 7 },
      sources: { resolution: 'upstream', duration: 'upstream' },
      lines: [{ source: 'upstream' }],
    });
    expect(settle({ basis: basisOf(list), channel: 'c', facts: {}, held: 1n })).toMatchObject({
      facts: { channel: 'c', resolution: '720p' },
      sources: {},
      lines: [],
      steps: [{ kind: 'held' }],
    });
    const byTokens: Price = { minimum: '0', lines: [{ measure: 'million_tokens', price: '1' }] };
    const formula = { basis: basisOf(byTokens), channel: 'c', facts: {}, held: 1n, estimatedTokens: 5n };
    expect(settle(formula)).toMatchObject({ lines: [{ source: 'formula', quantity: '5/1000000' }] });
  });
});
