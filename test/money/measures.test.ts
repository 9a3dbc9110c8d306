import { expect, it } from 'vitest';
import {
  isRendered,
  measures,
  renderedQuantity,
  secondQuantity,
  tokenQuantity,
  wholeQuantity,
} from '../../src/money/measures.ts';
import type { Extent, Measure } from '../../src/money/measures.ts';
import { chargeOf, type PriceBasis } from '../../src/money/price.ts';
import { writeLine, type Quantity } from '../../src/money/reckoning.ts';
import type { SettleFacts } from '../../src/money/settle-facts.ts';
import { settle } from '../../src/money/settle.ts';

interface Example {
  readonly request?: {
    readonly extent: Omit<Extent, 'tokens'> & { readonly tokens?: bigint };
    readonly comesTo: string;
  };
  readonly facts: SettleFacts;
  readonly reported: string;
  readonly bound?: NonNullable<PriceBasis['bounds']>[Measure];
}

const tokens = (name: string): Example => ({
  facts: { usage: { [name]: 1_200 } },
  reported: '1200/1000000',
});

/** If a new measure has no example here, this does not compile. */
const examples: Readonly<Record<Measure, Example>> = {
  million_tokens: {
    request: { extent: { tokens: 108_900n }, comesTo: '108900/1000000' },
    facts: { usage: { completionTokens: 100_000, totalTokens: 120_000 } },
    reported: '100000/1000000',
  },
  million_text_tokens: tokens('textTokens'),
  million_input_text_tokens: tokens('inputTextTokens'),
  million_input_image_tokens: tokens('inputImageTokens'),
  million_input_audio_tokens: tokens('inputAudioTokens'),
  million_input_video_tokens: tokens('inputVideoTokens'),
  million_cached_tokens: tokens('cachedTokens'),
  second: {
    request: { extent: { seconds: 5 }, comesTo: '5000/1000' },
    facts: { durationSeconds: 5.042 },
    reported: '5042/1000',
  },
  frame: {
    request: { extent: { seconds: 5, framesPerSecond: 24 }, comesTo: '120/1' },
    facts: { frames: 121 },
    reported: '121/1',
  },
  input_second: { facts: { inputSeconds: 3.5 }, reported: '3500/1000' },
  image: {
    request: { extent: { images: 4 }, comesTo: '4/1' },
    facts: { images: 3 },
    reported: '3/1',
  },
  megapixel: {
    request: { extent: { images: 2, pixels: 1536 * 1024 }, comesTo: '4/1' },
    facts: { images: 2, size: '2048x2048' },
    reported: '8/1',
  },
  input_image: { facts: { inputImages: 7 }, reported: '7/1' },
  reference_image: { facts: {}, reported: '5/1', bound: { most: '5/1', source: 'request' } },
  call: { facts: {}, reported: '1/1' },
};

/** A task cannot be sold at a price for its input alone, so this adds a line for the task itself. */
function basisOf(measure: Measure): PriceBasis {
  const { bound } = examples[measure];
  const lines = [
    { measure, price: '1' },
    ...(isRendered(measure) || measure === 'call' ? [] : [{ measure: 'call' as const, price: '0' }]),
  ];
  return {
    price: { minimum: '0', lines },
    facts: {},
    ...(bound === undefined ? {} : { bounds: { [measure]: bound } }),
    version: 'v',
  };
}

it.each(measures.filter(isRendered))('%s: the amount of a request', (measure) => {
  const { extent: { tokens: formula, ...extent } = {}, comesTo } = examples[measure].request ?? {};
  const quantity = renderedQuantity(measure, { ...extent, tokens: () => formula });
  expect(`${quantity?.numerator}/${quantity?.denominator}`).toBe(comesTo);
});

it.each(measures)('%s: the amount that the response reports', (measure) => {
  const { facts, reported } = examples[measure];
  const settlement = settle({ basis: basisOf(measure), channel: 'one', facts, held: 1n });
  expect(settlement.estimated).toBe(false);
  expect(settlement.lines).toContainEqual(expect.objectContaining({ measure, quantity: reported }));
});

it.each(measures.filter(isRendered))(
  '%s: without a report, the minimum is charged, as an estimate',
  (measure) => {
    const basis = { ...basisOf(measure), least: '5' };
    expect(settle({ basis, channel: 'one', facts: {}, held: 7n })).toMatchObject({
      amount: 5n,
      estimated: true,
      lines: [],
    });
  },
);

it('input that is only assumed costs nothing until it is reported', () => {
  const price = {
    minimum: '0',
    lines: [
      { measure: 'second' as const, price: '0.10' },
      { measure: 'input_second' as const, price: '0.08' },
    ],
  };
  const basis: PriceBasis = {
    price,
    facts: {},
    bounds: { input_second: { most: '15000/1000', source: 'assumed' } },
    version: 'v',
  };
  const charged = (facts: SettleFacts, bounds = basis.bounds ?? {}) =>
    settle({ basis: { ...basis, bounds }, channel: 'one', facts, held: 10n ** 7n }).amount;
  expect(charged({ durationSeconds: 5 })).toBe(500_000n);
  expect(charged({ durationSeconds: 5, inputSeconds: 4 })).toBe(820_000n);
  const measured = { input_second: { most: '4000/1000', source: 'measured' as const } };
  expect(charged({ durationSeconds: 5 }, measured)).toBe(820_000n);
});

it('the first units of a measure may be free; for megapixels, those of each image', () => {
  const count = (numerator: bigint) => ({
    quantity: { numerator, denominator: 1n },
    source: 'request' as const,
  });
  const references = {
    minimum: '0',
    lines: [
      { measure: 'call' as const, price: '1' },
      { measure: 'input_image' as const, price: '0.04', beyond: 5 },
    ],
  };
  const amounts = [0n, 5n, 6n, 9n].map(
    (images) =>
      chargeOf(references, [{ facts: {}, counts: { call: count(1n), input_image: count(images) } }])?.amount,
  );
  expect(amounts).toEqual([1_000_000n, 1_000_000n, 1_040_000n, 1_160_000n]);
  const pixels = {
    minimum: '0',
    lines: [
      { measure: 'image' as const, price: '0.03' },
      { measure: 'megapixel' as const, price: '0.015', beyond: 1 },
    ],
  };
  const counts = { image: count(2n), megapixel: count(8n) };
  expect(chargeOf(pixels, [{ facts: {}, images: 2, counts }])?.amount).toBe(150_000n);
});

it('a free fraction of a unit is not rounded', () => {
  const charged = (measure: Measure, beyond: number, quantity: Quantity, images = 1) =>
    chargeOf({ minimum: '0', lines: [{ measure, price: '1', beyond }, callOfNothing] }, [
      { facts: {}, images, counts: { call: one, [measure]: { quantity, source: 'request' } } },
    ]);
  const callOfNothing = { measure: 'call', price: '0' } as const;
  const one = { quantity: wholeQuantity(1), source: 'request' } as const;
  expect(charged('image', 0.5, wholeQuantity(2))?.amount).toBe(1_500_000n);
  expect(charged('megapixel', 0.25, wholeQuantity(6), 3)?.amount).toBe(5_250_000n);
  expect(charged('million_tokens', 1e-7, tokenQuantity(10n))?.amount).toBe(10n);
  expect(charged('second', 0.0001, secondQuantity(1))?.amount).toBe(999_900n);
  const lines = charged('second', 2.5, secondQuantity(4))?.lines ?? [];
  expect(lines.map(writeLine)[0]).toMatchObject({ quantity: '4000/1000', free: '2500/1000', amount: '1.5' });
});

it('a length in milliseconds has as many frames as it lasts, whatever its fractions are in binary', () => {
  const frames = (seconds: number, framesPerSecond: number) =>
    renderedQuantity('frame', { seconds, framesPerSecond, tokens: () => undefined })?.numerator;
  const rates = [8, 12, 15, 16, 24, 25, 30, 60];
  const wrong = rates.flatMap((rate) =>
    Array.from({ length: 20_000 }, (_, index) => index + 1)
      .filter((ms) => frames(ms / 1000, rate) !== BigInt(Math.ceil((ms * rate) / 1000)))
      .map((ms) => `${ms} ms at ${rate}`),
  );
  expect(wrong).toEqual([]);
});
