import { defined } from '../base/defined.ts';
import { parseSize } from '../base/image-sizes.ts';
import type { ImageGroup, MeasuredFact, SettleFacts, Usage } from './settle-facts.ts';
import {
  credible,
  isOfImage,
  isRendered,
  pixelQuantity,
  reportedQuantity,
  secondQuantity,
  tokenQuantity,
  wholeQuantity,
} from './measures.ts';
import type { Measure } from './measures.ts';
import type { Micros } from './money.ts';
import {
  chargeable,
  chargeOf,
  factsAt,
  hasOwnPrice,
  isByFormula,
  measuresOf,
  multiply,
  noReview,
  priceAt,
  reviewAboveDefault,
} from './price.ts';
import type { Bound, Count, Counts, Part, Price, PriceBasis, PriceFacts } from './price.ts';
import { isMore, readQuantity, writeLine, writeStep, type Reckoning, type Step } from './reckoning.ts';

export interface Settlement extends Reckoning {
  readonly amount: Micros;
  /**
   * True if the output was neither reported nor measured, so the charge comes from a formula or is the lowest possible
   * one.
   */
  readonly estimated: boolean;
}

export interface SettleInput {
  readonly basis: PriceBasis;
  readonly channel: string;
  readonly facts: SettleFacts;
  readonly held: Micros;
  /** From the adapter's formula, based on the reported length and size. */
  readonly estimatedTokens?: bigint;
}

type About = Pick<Reckoning, 'rules_of' | 'facts' | 'sources'>;

/**
 * Computes the charge from the prices fixed with the hold, and from the usage, resolution and length in the response.
 */
export function settle(input: SettleInput): Settlement {
  const { basis, channel, facts, held } = input;
  const price = priceAt(basis, channel);
  const seen = reportedFacts(facts);
  const measured: readonly string[] = facts.measured ?? [];
  const about: About = {
    rules_of: hasOwnPrice(basis, channel) ? 'channel' : 'model',
    facts: { ...testedFacts(basis, channel), channel, ...seen },
    sources: Object.fromEntries(
      Object.entries(seen).map(([name]) => [name, measured.includes(name) ? 'measured' : 'upstream']),
    ),
  };
  const charge = chargeOf(price, partsOf(input, price, about.facts));
  if (charge === undefined) return settleAsLeast(about, basis, held);
  const { amount, lines, steps } = charge;
  const isDerived = lines.some(({ measure, source }) => isRendered(measure) && !isKnown.has(source));
  const isFormula = lines.some(({ source }) => source === 'formula');
  return {
    ...about,
    ...(isFormula ? defined({ input_seconds: facts.inputSeconds ?? basis.input_seconds }) : {}),
    amount,
    estimated: isDerived,
    lines: lines.map(writeLine),
    steps: steps.map(writeStep),
  };
}

const isKnown: ReadonlySet<Count['source']> = new Set(['upstream', 'measured']);

function partsOf(input: SettleInput, price: Price, facts: PriceFacts): Part[] {
  const { groups = [], images } = input.facts;
  const counts = countsOf(input, price);
  if (groups.length < 2) {
    const one = { images: images ?? 1, ...defined({ size: facts.size }) };
    return [{ facts, images: one.images, counts: { ...counts, ...imageCounts(one, input, price) } }];
  }
  return [
    { facts, counts },
    ...groups.map((group) => {
      const { images: count, ...of } = group;
      return {
        facts: { ...facts, ...of },
        of,
        images: count,
        counts: imageCounts({ ...defined({ size: facts.size }), ...group }, input, price),
      };
    }),
  ];
}

function countsOf(input: SettleInput, price: Price): Counts {
  const counts = measuresOf(price)
    .filter((measure) => !isOfImage(measure))
    .flatMap((measure) => {
      const count = countOf(measure, input);
      return count === undefined ? [] : [[measure, count] as const];
    });
  return Object.fromEntries(counts);
}

const factBehind: { readonly [M in Measure]?: MeasuredFact } = {
  second: 'duration',
  input_second: 'input_seconds',
};

function countOf(
  measure: Measure,
  { basis, channel, facts, estimatedTokens }: SettleInput,
): Count | undefined {
  if (measure === 'call') return { quantity: wholeQuantity(1), source: 'request' };
  const reported = reportedQuantity(measure, facts);
  if (reported !== undefined) {
    const isMeasured = facts.measured?.some((name) => name === factBehind[measure]) === true;
    return { quantity: reported, source: isMeasured ? 'measured' : 'upstream' };
  }
  if (measure === 'million_tokens' && estimatedTokens !== undefined) {
    return { quantity: tokenQuantity(estimatedTokens), source: 'formula' };
  }
  const { most, bounds = {} } = basis;
  const { duration } = factsAt(basis, channel);
  if (measure === 'second' && duration !== undefined && duration === most?.seconds) {
    return { quantity: secondQuantity(duration), source: 'request' };
  }
  const bound = bounds[measure];
  const quantity = readQuantity(bound?.most ?? '');
  if (bound === undefined || quantity === undefined || isRendered(measure)) return undefined;
  return chargeable({ quantity, source: bound.source });
}

function imageCounts({ images, size }: ImageGroup, { basis, facts }: SettleInput, price: Price): Counts {
  const named = measuresOf(price);
  const counted = reportedQuantity('image', { images });
  if (facts.images === undefined || counted === undefined) return {};
  const isMeasured = facts.measured?.includes('size') === true;
  const megapixels = megapixelsOf(
    { images, ...defined({ size }) },
    { bound: basis.bounds?.megapixel, isMeasured },
  );
  return {
    ...(named.includes('image') ? { image: { quantity: counted, source: 'upstream' } } : {}),
    ...(named.includes('megapixel') ? defined({ megapixel: megapixels }) : {}),
  };
}

interface PixelTerms {
  readonly bound: Bound | undefined;
  /** True if the pixels were measured in the images. The charge then does not exceed the bound. */
  readonly isMeasured: boolean;
}

function megapixelsOf({ images, size }: ImageGroup, { bound, isMeasured }: PixelTerms): Count | undefined {
  const pixels = parseSize(size);
  const most = readQuantity(bound?.most ?? '');
  const bounded = most && { ...most, numerator: most.numerator * BigInt(Math.max(0, Math.trunc(images))) };
  if (pixels === undefined) {
    return bounded === undefined || bound?.source === 'assumed'
      ? undefined
      : { quantity: bounded, source: 'request' };
  }
  const quantity = pixelQuantity(pixels.width * pixels.height, images);
  if (!isMeasured) return { quantity, source: 'upstream' };
  return {
    quantity: bounded !== undefined && isMore(quantity, bounded) ? bounded : quantity,
    source: 'measured',
  };
}

export function testedFacts(basis: PriceBasis, channel: string): PriceFacts {
  const { sizes = {} } = basis;
  const priced = Object.hasOwn(sizes, channel) ? defined({ size: sizes[channel] }) : {};
  return { ...factsAt(basis, channel), ...priced };
}

/** Charges the request's minimum price, because no usage figure that we trust can be priced. */
export function settleAsLeast(
  { rules_of, facts, sources }: About,
  basis: Pick<PriceBasis, 'least'>,
  held: Micros,
): Settlement {
  const amount = leastOf(basis, held);
  const step = writeStep({ kind: basis.least === undefined ? 'held' : 'least', amount });
  return { rules_of, facts, sources, amount, estimated: true, lines: [], steps: [step] };
}

export function leastOf({ least }: Pick<PriceBasis, 'least'>, held: Micros): Micros {
  const amount = least === undefined || !/^\d{1,30}$/.test(least) ? held : BigInt(least);
  return amount < held ? amount : held;
}

export function atMost(settlement: Settlement, limit: Micros): Settlement {
  return settlement.amount > limit
    ? withStep(settlement, { kind: 'limit', limit, amount: limit })
    : settlement;
}

export function withStep(settlement: Settlement, step: Step): Settlement {
  return { ...settlement, amount: step.amount, steps: [...settlement.steps, writeStep(step)] };
}

export function isPriced({ lines }: Pick<Reckoning, 'lines'>): boolean {
  return lines.length > 0;
}

export function needsFormula(price: Pick<Price, 'lines'>, facts: SettleFacts): boolean {
  return isByFormula(price) && reportedQuantity('million_tokens', facts) === undefined;
}

/**
 * True if the token counts are so inconsistent that an operator must decide, for example `completion_tokens: 1` with
 * `total_tokens: 108900`. The total also includes input tokens, but those are far fewer.
 */
export function areContradictory(
  { completionTokens, totalTokens }: Usage,
  price: Pick<Price, 'lines' | 'reviewAbove'>,
): boolean {
  const { reviewAbove = reviewAboveDefault } = price;
  const completion = credible(completionTokens);
  const total = credible(totalTokens);
  if (!isByFormula(price) || reviewAbove === noReview) return false;
  if (completion === undefined || total === undefined) return false;
  const [made, all] = [BigInt(Math.ceil(completion)), BigInt(Math.ceil(total))];
  return made > all || all > multiply(made, reviewAbove);
}

function reportedFacts(facts: SettleFacts): PriceFacts {
  const { resolution, ratio, size, quality, durationSeconds: duration, generateAudio } = facts;
  return defined({ resolution, ratio, size, quality, generate_audio: generateAudio, duration });
}
