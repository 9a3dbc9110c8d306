import { defined } from '../base/defined.ts';
import type { ModelConfig } from '../config/gateway-file.ts';
import type { Micros } from '../money/money.ts';
import { imagesOf } from '../models/media-roles.ts';
import { asSent } from '../models/facts-of-request.ts';
import { isOfLength, isRendered, pixelQuantity, renderedQuantity, wholeQuantity } from '../money/measures.ts';
import type { Measure } from '../money/measures.ts';
import {
  chargeable,
  chargeOf,
  isByFormula,
  isOpenFact,
  isPricedBy,
  measuresLength,
  measuresOf,
} from '../money/price.ts';
import type { Charge, Count, Counts, Part, Price, PriceFacts } from '../money/price.ts';
import { writeLine, writeStep, type CountSource, type Reckoning } from '../money/reckoning.ts';
import type { AskedRequest, GenerationRequest } from '../models/request.ts';
import type { EstimateOutput, GivenInput, PossibleOutput } from '../providers/provider.ts';
import { pixelCount } from '../base/image-sizes.ts';
import type { PlainFacts } from '../models/model-facts.ts';
import { givenCounts, type GivenCounts } from './given-counts.ts';
import { pricedSizes } from './priced-sizes.ts';
import { openOutputs, type Output } from './open-outputs.ts';

export interface Quote {
  readonly price: ChannelPrice;
  /** The highest possible charge for the request. This amount is held. */
  readonly worst: QuotedCharge;
  /** The lowest possible charge, excluding counts that are merely assumed. */
  readonly least: QuotedCharge;
  /** The charge with the model's first listed resolution and ratio and its default duration. */
  readonly usual: QuotedCharge;
  /** The length to charge if the upstream reports none. Undefined if the request does not determine a length. */
  readonly seconds?: number;
  readonly secondsMax?: number;
  readonly fixed: PriceFacts;
  readonly open: readonly (keyof PriceFacts)[];
  readonly resolutions?: readonly string[];
  /** The size that determines an image's price if no price line contains its own size. */
  readonly size?: string;
  readonly bounds: GivenCounts;
}

export interface QuotedCharge extends Charge {
  readonly facts: PriceFacts;
  readonly seconds?: number;
}

export interface ChannelPrice extends Pick<Price, 'minimum' | 'lines' | 'factor'> {
  readonly isOwn: boolean;
}

export interface QuoteContext {
  readonly model: ModelConfig;
  readonly channel: string;
  readonly price: ChannelPrice;
  readonly estimateTokens?: ((output: EstimateOutput) => bigint | undefined) | undefined;
  readonly possible?: PossibleOutput | undefined;
  readonly facts: PlainFacts;
  readonly given?: GivenInput;
  readonly calls?: number;
}

/**
 * Returns undefined if no price line matches. If no price line contains an image's size, the most expensive of its
 * possible sizes determines the price.
 */
export function quoteRequest(written: GenerationRequest, context: QuoteContext): Quote | undefined {
  const request = asSent(written, context.facts);
  const asked = quoteAs(request, context);
  if (asked === undefined || request.kind !== 'image' || request.size === undefined) return asked;
  const quotes = pricedSizes(request.size, context).flatMap((size) => {
    const quote = quoteAs({ ...request, size }, context);
    return quote === undefined ? [] : [{ quote: { ...quote, size }, amount: quote.worst.amount }];
  });
  const [first] = quotes;
  return first === undefined ? asked : dearest(quotes, first).quote;
}

function quoteAs(request: GenerationRequest, context: QuoteContext): Quote | undefined {
  const { channel, price } = context;
  const model = { ...context.model, price };
  const fixed = requestFacts(request);
  const outputs = openOutputs(request, model, context.possible ?? {});
  const given = givenOf(request, context);
  const isAssumed = Object.values(given).some(({ source }) => source === 'assumed');
  const quoted = outputs.flatMap((output) => {
    const facts = { ...fixed, ...output.facts, channel };
    const rendered = renderedCounts(output, { request, context, fixed });
    const part = (counts: Counts): Part => ({ facts, images: imagesOfRequest(request), counts });
    const worst = chargeOf(price, [part({ ...rendered, ...countsOf(given) })]);
    const least = isAssumed
      ? chargeOf(price, [part({ ...rendered, ...countsOf(given, chargeable) })])
      : worst;
    const about = { facts, ...defined({ seconds: output.seconds }) };
    return worst === undefined || least === undefined
      ? []
      : [{ worst: { ...worst, ...about }, least: { ...least, ...about } }];
  });
  const [usual] = quoted;
  if (usual === undefined) return undefined;
  const worst = dearest(
    quoted.map((one) => one.worst),
    usual.worst,
  );
  const least = quoted.map((one) => one.least).reduce((low, one) => (one.amount < low.amount ? one : low));
  const isAsInput = context.possible?.seconds?.usual !== undefined;
  const { seconds } = measuresLength(price) && !isAsInput ? worst : usual.worst;
  return {
    price,
    worst,
    least,
    usual: usual.least,
    fixed,
    open: openOf(outputs, fixed),
    bounds: { ...given, ...defined({ megapixel: pixelBound(request, context) }) },
    ...defined({ seconds, secondsMax: longest(outputs) }),
    ...(fixed.resolution === undefined ? defined({ resolutions: context.possible?.resolutions }) : {}),
  };
}

function givenOf(request: GenerationRequest, { price, facts, given, calls = 1 }: QuoteContext): GivenCounts {
  const named = measuresOf(price).filter((measure) => !isRendered(measure));
  if (named.length === 0) return {};
  const counts = givenCounts(request, facts, { ...given, calls, priced: named });
  return Object.fromEntries(
    named.flatMap((measure) => {
      const count = counts[measure];
      return count === undefined ? [] : [[measure, count] as const];
    }),
  );
}

function countsOf(given: GivenCounts, toCount: (count: Count) => Count = (count) => count): Counts {
  return Object.fromEntries(
    Object.entries(given).map(
      ([measure, { most, source }]) => [measure, toCount({ quantity: most, source })] as const,
    ),
  );
}

interface Rendering {
  readonly request: GenerationRequest;
  readonly context: QuoteContext;
  readonly fixed: PriceFacts;
}

function renderedCounts({ facts, seconds }: Output, { request, context, fixed }: Rendering): Counts {
  const { price, estimateTokens } = context;
  const { resolution = '', ratio = '', size } = facts;
  const extent = {
    ...defined({
      seconds,
      framesPerSecond: context.facts.frames_per_second,
      images: imagesOfRequest(request),
      pixels: isPricedBy(price, 'megapixel') ? pixelsOf(size, context) : undefined,
    }),
    tokens: () => estimateTokens?.({ resolution, ratio, durationSeconds: seconds ?? 0 }),
  };
  const call: Count = { quantity: wholeQuantity(1), source: 'request' };
  const counts = measuresOf(price).flatMap((measure): (readonly [Measure, Count])[] => {
    if (measure === 'call') return [[measure, call]];
    const quantity = renderedQuantity(measure, extent);
    const isOpen = measure === 'megapixel' && fixed.size !== size;
    const source: CountSource = measure === 'million_tokens' ? 'formula' : isOpen ? 'open' : 'request';
    return quantity === undefined ? [] : [[measure, { quantity, source }]];
  });
  return Object.fromEntries(counts);
}

function imagesOfRequest(request: GenerationRequest): number {
  return request.kind === 'image' ? request.n : 1;
}

function pixelsOf(
  size: string | undefined,
  { model, facts: { sizes = {} } }: QuoteContext,
): number | undefined {
  const known = isOpenFact(size) ? undefined : pixelCount(size ?? '', sizes);
  if (known !== undefined) return known;
  const named = model.sizes.flatMap((one) => pixelCount(one, sizes) ?? []);
  const all = [
    ...named,
    ...Object.values(sizes.classes ?? {}),
    sizes.about ?? [],
    sizes.pixels?.max ?? [],
  ].flat();
  return all.length === 0 ? undefined : Math.max(...all);
}

function pixelBound(request: GenerationRequest, context: QuoteContext): GivenCounts['megapixel'] {
  if (request.kind !== 'image' || !isPricedBy(context.price, 'megapixel')) return undefined;
  const pixels = pixelsOf(request.size, context);
  return pixels === undefined
    ? undefined
    : { most: pixelQuantity(pixels, 1), source: isOpenFact(request.size) ? 'assumed' : 'request' };
}

function longest(outputs: readonly Output[]): number | undefined {
  const lengths = outputs.flatMap(({ seconds }) => seconds ?? []);
  return lengths.length === 0 ? undefined : Math.max(...lengths);
}

function openOf(outputs: readonly Output[], fixed: PriceFacts): Quote['open'] {
  const isOther = (name: (typeof openFacts)[number]) =>
    outputs.some(({ facts }) => facts[name] !== fixed[name]);
  return openFacts.filter((name) => fixed[name] !== undefined && name !== 'duration' && isOther(name));
}

export function dearest<Priced extends { readonly amount: Micros }>(
  charges: readonly Priced[],
  first: Priced,
): Priced {
  return charges.reduce((most, charge) => (charge.amount > most.amount ? charge : most), first);
}

export interface ReckonedRequest {
  readonly asked: AskedRequest;
  readonly request: GenerationRequest;
  readonly inputSeconds?: number;
}

export function reckon(
  charge: QuotedCharge,
  { price, fixed }: Pick<Quote, 'price' | 'fixed'>,
  reckoned: ReckonedRequest,
): Reckoning {
  const { facts, seconds, lines, steps } = charge;
  const isTimed = isByFormula(price) || measuresLength(price);
  const sources = sourcesOf(facts, fixed, reckoned);
  return {
    rules_of: price.isOwn ? 'channel' : 'model',
    facts,
    sources,
    ...(isTimed ? defined({ seconds, input_seconds: reckoned.inputSeconds }) : {}),
    lines: lines.map((line) =>
      writeLine(isOfLength(line.measure) ? { ...line, source: lengthSource(sources) } : line),
    ),
    steps: steps.map(writeStep),
  };
}

function lengthSource({ duration }: Reckoning['sources']): CountSource {
  return duration === 'default' || duration === 'open' ? duration : 'request';
}

const openFacts = ['resolution', 'ratio', 'size', 'quality', 'generate_audio', 'duration'] as const;
const filledIn = ['duration', 'resolution'] as const;

function sourcesOf(
  facts: PriceFacts,
  fixed: PriceFacts,
  { asked, request }: ReckonedRequest,
): Reckoning['sources'] {
  const isOpen = (name: (typeof openFacts)[number]): boolean => {
    const named = fixed[name];
    // An image is rendered at the requested size, even if it is priced at a different one.
    const isNamed = request.kind === 'image' && typeof named === 'string' && !isOpenFact(named);
    return !isNamed && facts[name] !== undefined && facts[name] !== named;
  };
  const open = openFacts.filter(isOpen);
  const filled = filledIn.filter(
    (name) =>
      asked.kind === 'video' &&
      request.kind === 'video' &&
      facts[name] !== undefined &&
      facts[name] === fixed[name] &&
      asked[name] !== request[name],
  );
  return Object.fromEntries([
    ...open.map((name) => [name, 'open'] as const),
    ...filled.map((name) => [name, 'default'] as const),
  ]);
}

function requestFacts(request: GenerationRequest): PriceFacts {
  if (request.kind === 'image') {
    return {
      image_input: request.images.length > 0,
      ...defined({ size: request.size }),
      ...defined({ quality: request.quality }),
    };
  }
  const tier = request.extra['service_tier'];
  return {
    image_input: imagesOf(request).length > 0,
    video_input: request.videos.length > 0,
    audio_input: request.audios.length > 0,
    draft: request.draft ?? false,
    ...defined({ generate_audio: request.generateAudio }),
    ...defined({ mode: request.mode }),
    ...defined({ size: request.size }),
    ...defined({ resolution: request.resolution }),
    ...(request.ratio === undefined || request.ratio === 'adaptive' ? {} : { ratio: request.ratio }),
    ...(typeof request.duration === 'number' ? { duration: request.duration } : {}),
    ...(typeof tier === 'string' ? { service_tier: tier } : {}),
  };
}
