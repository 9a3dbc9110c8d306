import { defined } from '../base/defined.ts';
import type { ModelConfig } from '../config/gateway-file.ts';
import type { Micros } from '../money/money.ts';
import { imagesOf } from '../models/media-roles.ts';
import { expectedQuantity, isByFormula, isOpenFact, measuresLength, priceOf } from '../money/price.ts';
import type { Charge, Price, PriceFacts } from '../money/price.ts';
import { writeQuantity, writeStep } from '../money/reckoning.ts';
import type { Reckoning } from '../money/reckoning.ts';
import type { AskedRequest, GenerationRequest } from '../models/request.ts';
import type { EstimateOutput, PossibleOutput } from '../providers/provider.ts';
import type { SizeFacts } from '../models/image-sizes.ts';
import { pricedSizes } from './priced-sizes.ts';
import { openOutputs } from './open-outputs.ts';
import type { Output } from './open-outputs.ts';

/** What a request costs on one channel, before it is rendered. */
export interface Quote {
  readonly price: ChannelPrice;
  /** The dearest of everything that the request leaves open: the hold. */
  readonly worst: QuotedCharge;
  /** If the model renders its first resolution and ratio listed and its default duration. */
  readonly expected: QuotedCharge;
  /** Of the video that is paid for if nobody reports its length; absent: nothing names it. */
  readonly seconds?: number;
  /** Of the longest video that the upstream may render; absent: nothing limits it. */
  readonly secondsMax?: number;
  /** Facts that the request names, and the upstream may render otherwise. */
  readonly open: readonly (keyof PriceFacts)[];
  /** Of a request that names no resolution: those that the upstream may render; absent: not known, or named. */
  readonly resolutions?: readonly string[];
  /** That an image is priced as whose own size no rule names. */
  readonly size?: string;
}

export interface QuotedCharge extends Charge {
  /** Of the output that it is for. */
  readonly facts: PriceFacts;
  readonly seconds?: number;
}

export interface ChannelPrice extends Pick<Price, 'unit' | 'minimum' | 'rules'> {
  /** The channel's own one, and not the model's. */
  readonly isOwn: boolean;
}

export interface QuoteContext {
  readonly model: ModelConfig;
  readonly channel: string;
  readonly price: ChannelPrice;
  /** The adapter's formula; absent: it has none. */
  readonly estimateTokens?: ((output: EstimateOutput) => bigint | undefined) | undefined;
  /** What the upstream may render, according to its adapter. */
  readonly possible?: PossibleOutput | undefined;
  /** Which sizes of images the upstream renders. */
  readonly sizes?: SizeFacts | undefined;
}

/** Undefined: no price rule holds. An image whose size no rule names costs the most of those that its size is priced as. */
export function quoteRequest(request: GenerationRequest, context: QuoteContext): Quote | undefined {
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
  const { channel, price, estimateTokens } = context;
  const model = { ...context.model, price };
  const fixed = requestFacts(request);
  const outputs = openOutputs(request, model, context.possible ?? {});
  const charges = outputs.flatMap(({ facts, seconds }) => {
    const allFacts = { ...fixed, ...facts, channel };
    const { resolution = '', ratio = '' } = facts;
    const quantity = expectedQuantity(price.unit, {
      ...defined({ seconds, images: request.kind === 'image' ? request.n : undefined }),
      tokens: () => estimateTokens?.({ resolution, ratio, durationSeconds: seconds ?? 0 }),
    });
    const charge = quantity === undefined ? undefined : priceOf(price, allFacts, quantity);
    return charge === undefined ? [] : [{ ...charge, facts: allFacts, ...defined({ seconds }) }];
  });
  const [expected] = charges;
  if (expected === undefined) return undefined;
  const worst = dearest(charges, expected);
  const { seconds } = measuresLength(price.unit) ? worst : expected;
  return {
    price,
    worst,
    expected,
    open: openOf(outputs, fixed),
    ...defined({ seconds, secondsMax: longest(outputs) }),
    ...(fixed.resolution === undefined ? defined({ resolutions: context.possible?.resolutions }) : {}),
  };
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

/** Of several that cost the same, the first. */
export function dearest<Priced extends { readonly amount: Micros }>(
  charges: readonly Priced[],
  first: Priced,
): Priced {
  return charges.reduce((most, charge) => (charge.amount > most.amount ? charge : most), first);
}

export interface ReckonedRequest {
  /** As its caller wrote it. */
  readonly asked: AskedRequest;
  /** As it is rendered. */
  readonly request: GenerationRequest;
  /** Of the videos that it gives, where they were measured. */
  readonly inputSeconds?: number;
}

/** How a charge of a quote has come about, and where each of its facts comes from. */
export function reckon(charge: QuotedCharge, price: ChannelPrice, reckoned: ReckonedRequest): Reckoning {
  const { facts, seconds, rule, quantity, steps } = charge;
  const isFormula = isByFormula(price.unit);
  const isLength = measuresLength(price.unit);
  const sources = sourcesOf(facts, reckoned);
  const asked = isLength ? (sources.duration ?? 'request') : 'request';
  return {
    unit: price.unit,
    rules_of: price.isOwn ? 'channel' : 'model',
    rule,
    facts,
    sources,
    ...(isFormula || isLength ? defined({ seconds, input_seconds: reckoned.inputSeconds }) : {}),
    quantity: writeQuantity(quantity),
    measured: isFormula ? 'formula' : asked,
    steps: steps.map(writeStep),
  };
}

/** Facts that a request may leave to the upstream. */
const openFacts = ['resolution', 'ratio', 'size', 'quality', 'generate_audio', 'duration'] as const;
/** Facts that the model's entry fills in where the caller names none. */
const filledIn = ['duration', 'resolution'] as const;

function sourcesOf(facts: PriceFacts, { asked, request }: ReckonedRequest): Reckoning['sources'] {
  const fixed: PriceFacts = requestFacts(request);
  const isOpen = (name: (typeof openFacts)[number]): boolean => {
    const named = fixed[name];
    // An image is rendered in the size that is named, though it may be priced as another one.
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

/** The facts that the request itself fixes, for price rules: frozen into the basis. */
export function requestFacts(request: GenerationRequest): PriceFacts {
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
