import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { defined } from '../../src/base/defined.ts';
import type { TaskKind } from '../../src/base/task-kind.ts';
import { fileSchema } from '../../src/config/gateway-schema.ts';
import { chargeAgain } from '../../src/money/charge-again.ts';
import { chargeTask } from '../../src/money/charge.ts';
import { isRendered, measures, measureSells, usageFields, type Measure } from '../../src/money/measures.ts';
import { formatMicros } from '../../src/money/money.ts';
import type { PriceBasis } from '../../src/money/price.ts';
import { readQuantity } from '../../src/money/reckoning.ts';
import type { ImageGroup, SettleFacts } from '../../src/money/settle-facts.ts';
import { providers } from '../../src/providers/index.ts';
import { createCatalogue, type RoutePlan } from '../../src/routing/catalogue.ts';
import { reckoned } from '../money/reckoned.ts';
import { asAsked, imageRequest, videoRequest } from '../providers/support.ts';
import { testBuyer } from '../support/buyer.ts';

/**
 * Tries prices with any measure. If usage is within the bounds of the request and its model, it must not cost more than
 * the hold. The price lines must add up to the charge, and the order of images must not matter.
 */

const sizes = ['1024x1024', '1536x1024', '2048x2048'];
const qualities = ['low', 'high'];
const resolutions = ['480p', '720p', '1080p'];
const inputSeconds = 7;
const upstreams = {
  image: { provider: 'openai', upstream: 'gpt-image-2.5-flare' },
  video: { provider: 'ark', upstream: 'dreamina-seedance-2-0-260128' },
} as const;

type Line = { readonly measure: Measure; readonly price: string; readonly [field: string]: unknown };

const amount = fc.integer({ min: 1, max: 900 }).map((cents) => (cents / 100).toFixed(2));

/** Returns one or two price lines per measure. The last line always matches. */
function linesOf(measure: Measure, kind: TaskKind): fc.Arbitrary<Line[]> {
  const when =
    kind === 'image'
      ? fc.oneof(
          fc.subarray(sizes, { minLength: 1 }).map((size) => ({ size })),
          fc.subarray(qualities, { minLength: 1 }).map((quality) => ({ quality })),
        )
      : fc.subarray(resolutions, { minLength: 1 }).map((resolution) => ({ resolution }));
  return fc
    .record({
      plain: fc.record({ measure: fc.constant(measure), price: amount, beyond: fc.constantFrom(0, 1) }),
      special: fc.option(fc.record({ measure: fc.constant(measure), price: amount, when }), {
        nil: undefined,
      }),
    })
    .map(({ plain, special }) => (special === undefined ? [plain] : [special, plain]));
}

function pricesOf(kind: TaskKind): fc.Arbitrary<Line[]> {
  const sold = measures.filter((measure) => measureSells(measure, kind));
  const output = sold.filter((measure) => isRendered(measure) || measure === 'call');
  return fc
    .tuple(fc.constantFrom(...output), fc.subarray(sold))
    .chain(([first, others]) =>
      fc.tuple(...[...new Set([first, ...others])].map((measure) => linesOf(measure, kind))),
    )
    .map((lines) => lines.flat());
}

function planOf(lines: readonly Line[], kind: TaskKind, asked: Asked): RoutePlan {
  const { provider, upstream } = upstreams[kind];
  const channel = {
    id: 'one',
    provider,
    base_url: 'http://u.test',
    credentials: [{ id: 'a', api_key: 'k' }],
    models: { m: { upstream, ...(kind === 'video' ? { facts: { frames_per_second: 24 } } : {}) } },
  };
  const own =
    kind === 'image'
      ? { sizes, qualities, n: { max: 4 } }
      : {
          input_types: ['text_to_video', 'reference'],
          resolutions,
          ratios: ['16:9'],
          durations: { min: 4, max: 15, default: 5 },
        };
  const model = {
    id: 'm',
    kind,
    price: { lines },
    inputs: { images: { max: 4 }, videos: { max: 2 } },
    ...own,
  };
  const config = fileSchema.parse({ currency: 'USD', channels: [channel], models: [model] });
  const catalogue = createCatalogue({
    current: () => ({ ...config, hash: 'v', vendors: {} }),
    providers,
    random: () => 0,
  });
  const { n, given, words, duration, videos } = asked;
  const picture = 'https://media.example/a.png';
  const { size, quality, resolution } = words;
  const request =
    kind === 'image'
      ? {
          ...imageRequest({
            model: 'm',
            n,
            operation: given > 0 ? 'edit' : 'generate',
            images: Array.from({ length: given }, () => ({ form: 'url', url: picture }) as const),
            ...defined({ size, quality }),
          }),
          named: {},
        }
      : asAsked(
          videoRequest({
            model: 'm',
            ratio: '16:9',
            duration,
            references: Array.from({ length: given }, () => picture),
            videos: Array.from({ length: videos }, (_, index) => `https://media.example/${index}.mp4`),
            ...defined({ resolution }),
          }),
        );
  return catalogue.plan(request, testBuyer, { inputSeconds: videos * inputSeconds });
}

const optional = (words: readonly string[]) => fc.option(fc.constantFrom(...words), { nil: undefined });
const asked = fc.record({
  n: fc.integer({ min: 1, max: 4 }),
  given: fc.integer({ min: 0, max: 4 }),
  videos: fc.integer({ min: 0, max: 2 }),
  duration: fc.integer({ min: 4, max: 15 }),
  words: fc.record({
    size: optional(sizes),
    quality: optional(qualities),
    resolution: optional(resolutions),
  }),
});
type Asked = typeof asked extends fc.Arbitrary<infer Value> ? Value : never;

const reported = fc.record({
  share: fc.double({ min: 0.01, max: 1, noNaN: true }),
  silent: fc.subarray([...measures]),
  images: fc.array(fc.record({ size: fc.constantFrom(...sizes), quality: fc.constantFrom(...qualities) }), {
    minLength: 4,
    maxLength: 4,
  }),
  resolution: fc.constantFrom(...resolutions),
});
type Reported = typeof reported extends fc.Arbitrary<infer Value> ? Value : never;

function factsWithin(
  { basis, reckoning }: RoutePlan,
  kind: TaskKind,
  { asked: { n, duration }, said }: { readonly asked: Asked; readonly said: Reported },
) {
  const { share, silent } = said;
  const partOf = (measure: Measure, held?: string): number | undefined => {
    const most = readQuantity(held ?? basis.bounds?.[measure]?.most ?? '');
    if (most === undefined || silent.includes(measure)) return undefined;
    return Math.floor((Number(most.numerator) / Number(most.denominator)) * share * 1e6) / 1e6;
  };
  const tokens = usageFields.map(([measure, field]) => {
    const part = partOf(measure);
    return [field, part === undefined ? undefined : Math.floor(part * 1e6)] as const;
  });
  const output = reckoning.lines.find(({ measure }) => measure === 'million_tokens')?.quantity;
  const completion = output === undefined ? undefined : partOf('million_tokens', output);
  const usage = {
    ...defined(Object.fromEntries(tokens)),
    ...defined({ completionTokens: completion === undefined ? undefined : Math.floor(completion * 1e6) }),
  };
  const inputImages = partOf('input_image');
  const input = {
    usage,
    ...defined({ inputImages: inputImages === undefined ? undefined : Math.floor(inputImages) }),
  };
  if (kind === 'image') {
    const images = Math.max(1, Math.floor(n * share));
    return { ...input, images, groups: said.images.slice(0, images).map((one) => ({ images: 1, ...one })) };
  }
  const durationSeconds = Math.max(1, duration * share);
  return {
    ...input,
    durationSeconds,
    frames: Math.floor(durationSeconds * 24),
    resolution: basis.facts.resolution ?? said.resolution,
    ...defined({ inputSeconds: partOf('input_second') }),
  };
}

function charge(kind: TaskKind, { basis, hold }: RoutePlan, facts: SettleFacts) {
  return chargeTask(kind, { basis, channel: 'one', facts, held: hold });
}

describe.each(['video', 'image'] as const)('%s', (kind) => {
  const seen = new Set<string>();
  const property = (
    check: (
      plan: RoutePlan,
      facts: SettleFacts & { readonly groups?: readonly ImageGroup[] },
      basis: PriceBasis,
    ) => void,
  ) =>
    fc.assert(
      fc.property(pricesOf(kind), asked, reported, (lines, wish, said) => {
        const plan = planOf(lines, kind, wish);
        check(plan, factsWithin(plan, kind, { asked: wish, said }), plan.basis);
      }),
      { numRuns: 400 },
    );

  it('a report within the request costs no more than the hold', () => {
    property((plan, facts) => {
      const { settlement, isBeyond } = charge(kind, plan, facts);
      for (const { measure } of settlement.lines) seen.add(measure);
      expect(isBeyond).toBe(false);
      expect(settlement.amount).toBeLessThanOrEqual(plan.hold);
    });
    expect([...seen].toSorted()).toEqual(measures.filter((one) => measureSells(one, kind)).toSorted());
  });

  it('its lines add up to the charge, also when they are applied again', () => {
    property((plan, facts, basis) => {
      const { settlement } = charge(kind, plan, facts);
      expect(reckoned(settlement)).toBe(formatMicros(settlement.amount));
      expect(chargeAgain({ basis, reckoning: settlement, held: plan.hold })).toBe(settlement.amount);
    });
  });

  it('costs the same in any order', () => {
    property((plan, facts) => {
      const { groups } = facts;
      const reversed = groups === undefined ? facts : { ...facts, groups: groups.toReversed() };
      expect(charge(kind, plan, reversed)).toEqual(charge(kind, plan, facts));
    });
  });
});
