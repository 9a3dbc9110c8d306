import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chargeAgain } from '../../src/money/charge-again.ts';
import { heldBasis, readSettleReckoning } from '../../src/money/ledger-basis.ts';
import type { PriceBasis } from '../../src/money/price.ts';
import { atMost, settle, type Settlement } from '../../src/money/settle.ts';
import type { Reckoning } from '../../src/money/reckoning.ts';
import { chargeImages } from '../../src/money/charge.ts';

const basis: PriceBasis = {
  price: {
    minimum: '0.01',
    lines: [
      { measure: 'million_tokens', when: { resolution: ['1080p'] }, price: '9.7' },
      { measure: 'million_tokens', when: { generate_audio: true }, price: '8.1' },
      { measure: 'million_tokens', price: '6.9' },
    ],
  },
  channels: { own: { minimum: '0', lines: [{ measure: 'second', price: '0.033333' }] } },
  facts: { generate_audio: false },
  version: 'v',
};

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

it('equals every settlement of a task, including those limited to the hold', () => {
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

it('equals every settlement of images', () => {
  const images: PriceBasis = {
    ...basis,
    price: {
      ...basis.price,
      lines: basis.price.lines.map((line) => ({ ...line, measure: 'image' as const })),
    },
    channels: {},
  };
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

describe('cannot be computed from', () => {
  const settlement = settle({
    basis,
    channel: 'other',
    facts: { usage: { completionTokens: 108_900 } },
    held: 10n ** 6n,
  });

  const changed = (change: Partial<Reckoning['lines'][number]>) =>
    settlement.lines.map((line) => ({ ...line, ...change }));

  it.each<[string, Partial<Reckoning>]>([
    ['another line than the one that holds', { lines: changed({ line: 0 }) }],
    ['a line that is missing', { lines: [] }],
    ['a line that nothing counts', { lines: [...settlement.lines, ...changed({ measure: 'second' })] }],
    ['a quantity that is none', { lines: changed({ quantity: '108900' }) }],
    ['a division by nothing', { lines: changed({ quantity: '1/0' }) }],
    ['a limit that is not the hold', { steps: [{ kind: 'limit', limit: '0.5', amount: '0.5' }] }],
    ['a share that is none', { steps: [{ kind: 'share', quantity: 'half', amount: '0.5' }] }],
  ])('%s', (_, change) => {
    expect(again(basis, settlement, 10n ** 6n, change)).toBeUndefined();
  });

  it('prices without the line', () => {
    const without: PriceBasis = { ...basis, price: { ...basis.price, lines: [] } };
    expect(again(without, settlement, 10n ** 6n)).toBeUndefined();
  });
});
