import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chargeAgain } from '../../src/ledger/charge-again.ts';
import { heldBasis, readSettleReckoning } from '../../src/money/ledger-basis.ts';
import { atMost, settle } from '../../src/money/price.ts';
import type { PriceBasis, Settlement } from '../../src/money/price.ts';
import type { Reckoning } from '../../src/money/reckoning.ts';
import { chargeImages } from '../../src/money/charge.ts';

const basis: PriceBasis = {
  price: {
    unit: 'million_tokens',
    minimum: '0.01',
    rules: [
      { when: { resolution: ['1080p'] }, price: '9.7' },
      { when: { generate_audio: true }, price: '8.1' },
      { price: '6.9' },
    ],
  },
  channels: { own: { unit: 'second', minimum: '0', rules: [{ price: '0.033333' }] } },
  facts: { generate_audio: false },
  version: 'v',
};

/** As the ledger's entries keep both. */
const again = (frozen: PriceBasis, settlement: Settlement, held: bigint, change: Partial<Reckoning> = {}) => {
  const { amount: _amount, ...kept } = settlement;
  const reckoning = readSettleReckoning(JSON.stringify({ ...kept, ...change }));
  const stored = heldBasis(JSON.stringify(frozen));
  if (reckoning === undefined || stored === undefined) throw new Error('what is stored can be read');
  return chargeAgain({ basis: stored, reckoning, held });
};

const facts = fc.record(
  {
    usage: fc.record({ completionTokens: fc.nat({ max: 2_000_000 }) }),
    durationSeconds: fc.double({ min: 0, max: 60, noNaN: true }),
    resolution: fc.constantFrom('720p', '1080p'),
    generateAudio: fc.boolean(),
  },
  { requiredKeys: [] },
);
const amount = fc.bigInt({ min: 0n, max: 10n ** 9n });

it('is what every settlement of a task came to, and what no more than the hold was charged of', () => {
  fc.assert(
    fc.property(
      facts,
      amount,
      fc.constantFrom('own', 'other'),
      fc.option(amount, { nil: undefined }),
      (reported, held, channel, estimatedTokens) => {
        const input = { basis, channel, facts: reported, held };
        const settlement = settle(estimatedTokens === undefined ? input : { ...input, estimatedTokens });
        expect(again(basis, settlement, held)).toBe(settlement.amount);
        const limited = atMost(settlement, held);
        expect(again(basis, limited, held)).toBe(limited.amount);
      },
    ),
  );
});

it('is what every settlement of images came to', () => {
  const images: PriceBasis = { ...basis, price: { ...basis.price, unit: 'image' }, channels: {} };
  fc.assert(
    fc.property(
      fc.nat({ max: 9 }),
      fc.integer({ min: 1, max: 9 }),
      amount,
      fc.constantFrom(images, basis),
      (arrived, asked, held, frozen) => {
        const settlement = chargeImages({
          basis: { ...frozen, most: { images: asked } },
          channel: 'other',
          facts: { images: arrived, size: '1024x1024' },
          held,
        });
        expect(again(frozen, settlement, held)).toBe(settlement.amount);
      },
    ),
  );
});

describe('nothing follows from', () => {
  const settlement = settle({
    basis,
    channel: 'other',
    facts: { usage: { completionTokens: 108_900 } },
    held: 10n ** 6n,
  });

  it.each<[string, Partial<Reckoning>]>([
    ['another rule than the one that holds', { rule: 0 }],
    ['a quantity that is none', { quantity: '108900' }],
    ['a division by nothing', { quantity: '1/0' }],
    ['a limit that is not the hold', { steps: [{ kind: 'limit', limit: '0.5', amount: '0.5' }] }],
    ['a share that is none', { steps: [{ kind: 'share', quantity: 'half', amount: '0.5' }] }],
  ])('%s', (_, change) => {
    expect(again(basis, settlement, 10n ** 6n, change)).toBeUndefined();
  });

  it('prices that do not have the rule', () => {
    const without: PriceBasis = { ...basis, price: { ...basis.price, rules: [] } };
    expect(again(without, settlement, 10n ** 6n)).toBeUndefined();
  });
});
