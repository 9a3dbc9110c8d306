import fc from 'fast-check';
import { expect, it } from 'vitest';
import { factsOfImages } from '../../src/images/call-channel.ts';
import { chargeAgain } from '../../src/money/charge-again.ts';
import { chargeImages } from '../../src/money/charge.ts';
import type { PriceBasis } from '../../src/money/price.ts';

/** Images that come in several answers, or in one whose images differ: each is priced by what it is. */

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

it('two sizes are two prices, whichever comes first', () => {
  // 0.04, and 0.08 with three megapixels more.
  expect(chargeOf([small, large]).amount).toBe(165_000n);
  expect(chargeOf([large, small]).amount).toBe(165_000n);
  expect(chargeOf([small, large]).lines).toMatchObject([
    { of: { size: '1024x1024' }, quantity: '1/1' },
    { of: { size: '1024x1024' }, quantity: '1/1' },
    { of: { size: '2048x2048' }, quantity: '1/1' },
    { of: { size: '2048x2048' }, quantity: '4/1', free: '1/1' },
  ]);
});

it('a permutation of what came changes nothing, and together they cost what each costs', () => {
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

it('of more images than were asked for the cheapest are charged', () => {
  expect(chargeOf([large, small, large], 1).amount).toBe(40_000n);
  expect(chargeOf([large, small, large], 2).amount).toBe(165_000n);
});
