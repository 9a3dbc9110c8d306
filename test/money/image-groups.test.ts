import fc from 'fast-check';
import { expect, it } from 'vitest';
import { factsOfImages } from '../../src/images/call-channel.ts';
import { chargeAgain } from '../../src/money/charge-again.ts';
import { chargeImages } from '../../src/money/charge.ts';
import type { PriceBasis } from '../../src/money/price.ts';
import type { SettleFacts } from '../../src/money/settle-facts.ts';

const basis: PriceBasis = {
  price: {
    minimum: '0',
    lines: [
      { measure: 'image', when: { size: ['1024x1024'], quality: ['high'] }, price: '0.08' },
      { measure: 'image', when: { size: ['1024x1024'] }, price: '0.04' },
      { measure: 'image', price: '0.08' },
      { measure: 'megapixel', price: '0.015', beyond: 1 },
    ],
  },
  facts: {},
  most: { images: 10 },
  bounds: { megapixel: { most: '4/1', source: 'assumed' } },
  version: 'v',
};
const chargeOf = (images: readonly { readonly size?: string; readonly quality?: string }[], asked = 10) =>
  chargeImages({
    basis: { ...basis, most: { images: asked } },
    channel: 'one',
    facts: factsOfImages(images),
    held: 2_000_000n,
  });

const small = { size: '1024x1024' };
const large = { size: '2048x2048' };
const image = fc.record({
  size: fc.constantFrom('1024x1024', '2048x2048', '1536x1024'),
  quality: fc.constantFrom('low', 'high'),
});

it('two sizes have two prices, whichever comes first', () => {
  expect(chargeOf([small, large]).amount).toBe(165_000n);
  expect(chargeOf([large, small]).amount).toBe(165_000n);
  expect(chargeOf([small, large]).lines).toMatchObject([
    { of: { size: '1024x1024' }, quantity: '1/1' },
    { of: { size: '1024x1024' }, quantity: '1/1' },
    { of: { size: '2048x2048' }, quantity: '1/1' },
    { of: { size: '2048x2048' }, quantity: '4/1', free: '1/1' },
  ]);
});

it('the order of the images makes no difference, and together they cost the sum of each', () => {
  fc.assert(
    fc.property(
      fc
        .array(image, { minLength: 1, maxLength: 8 })
        .chain((images) =>
          fc.tuple(fc.constant(images), fc.shuffledSubarray(images, { minLength: images.length })),
        ),
      ([images, shuffled]) => {
        const charged = chargeOf(images);
        expect(chargeOf(shuffled)).toEqual(charged);
        const alone = images.map((one) => chargeOf([one]).amount).reduce((sum, one) => sum + one, 0n);
        expect(charged.amount).toBe(alone);
        expect(chargeAgain({ basis, reckoning: charged, held: 2_000_000n })).toBe(charged.amount);
      },
    ),
  );
});

it('charges the cheapest if there are more images than requested', () => {
  expect(chargeOf([large, small, large], 1).amount).toBe(40_000n);
  expect(chargeOf([large, small, large], 2).amount).toBe(165_000n);
});

const measured = (facts: SettleFacts, held: bigint, more: Partial<PriceBasis> = {}) =>
  chargeImages({
    basis: { ...basis, ...more },
    channel: 'one',
    facts: { ...facts, measured: ['size'] },
    held,
  });

it('charges no more measured megapixels than the hold assumed', () => {
  const huge = { images: 1, size: '8192x8192' };
  expect(measured(huge, 125_000n)).toMatchObject({ amount: 125_000n, estimated: false });
  expect(measured(huge, 125_000n).lines).toMatchObject([
    { measure: 'image', source: 'upstream' },
    { measure: 'megapixel', quantity: '4/1', source: 'measured' },
  ]);
  expect(chargeOf([{ size: '8192x8192' }]).amount).toBe(1_025_000n);
});

it('charges by the request if measured pixels would exceed the hold', () => {
  const lines: PriceBasis['price']['lines'] = [
    { measure: 'image', when: { size: ['4K'] }, price: '0.24' },
    { measure: 'image', price: '0.04' },
  ];
  const more = { price: { minimum: '0', lines } };
  expect(measured({ images: 1, size: '4096x4096' }, 240_000n, more).amount).toBe(240_000n);
  expect(measured({ images: 1, size: '4096x4096' }, 239_999n, more).amount).toBe(40_000n);
});

it.each([
  ['2048x2048', '2048x2048', 3],
  ['2752x1536', '2K', 2],
  ['1536x2752', '2K', 2],
  ['1408x768', '1K', 1],
  ['3000x3000', undefined, 4],
])('%s is priced as %s', (size, priced, price) => {
  const lines = [
    { measure: 'image' as const, when: { size: ['1K', '1024x1024'] }, price: '1' },
    { measure: 'image' as const, when: { size: ['2K'] }, price: '2' },
    { measure: 'image' as const, when: { size: ['2048x2048'] }, price: '3' },
    { measure: 'image' as const, price: '4' },
  ];
  const charged = measured({ images: 1, size }, 4_000_000n, { price: { minimum: '0', lines } });
  expect(charged.amount).toBe(BigInt(price) * 1_000_000n);
  expect(charged.facts.size).toBe(priced ?? size);
});

it('measured pixels never charge more than the hold, and the order of the images does not matter', () => {
  const side = fc.integer({ min: 1, max: 20_000 });
  const size = fc.tuple(side, side).map(([width, height]) => ({ size: `${width}x${height}` }));
  fc.assert(
    fc.property(
      fc
        .array(size, { minLength: 1, maxLength: 4 })
        .chain((images) =>
          fc.tuple(fc.constant(images), fc.shuffledSubarray(images, { minLength: images.length })),
        ),
      fc.bigInt({ min: 0n, max: 1_000_000n }),
      ([images, shuffled], held) => {
        const charged = measured(factsOfImages(images), held);
        expect(charged.amount).toBeLessThanOrEqual(held);
        expect(measured(factsOfImages(shuffled), held)).toEqual(charged);
      },
    ),
  );
});
