import { defined } from '../domain/defined.ts';
import type { ModelConfig } from '../config/gateway-file.ts';
import { imageQuantity, oneCall, priceOf, secondQuantity, tokenQuantity } from '../domain/price.ts';
import type { Charge, PriceFacts, Quantity } from '../domain/price.ts';
import type { GenerationRequest, VideoRequest } from '../domain/request.ts';
import type { EstimateOutput } from '../providers/provider.ts';

/** What a request costs on one channel, before it is rendered. */
export interface Quote {
  /** The dearest of everything that the request leaves open: the hold. */
  readonly worst: Charge;
  /** If the model renders its first resolution and ratio listed and its default duration. */
  readonly expected: Charge;
}

export interface QuoteContext {
  readonly model: ModelConfig;
  readonly channel: string;
  /** The adapter's formula; absent: it has none. */
  readonly estimateTokens?: ((output: EstimateOutput) => bigint | undefined) | undefined;
}

/** Undefined: no price rule holds. */
export function quoteRequest(request: GenerationRequest, context: QuoteContext): Quote | undefined {
  const fixed = requestFacts(request);
  const charges = openOutputs(request, context.model).flatMap((output) => {
    const facts = { ...fixed, ...output, channel: context.channel };
    const quantity = quantityOf(request, facts, context);
    const charge = quantity === undefined ? undefined : priceOf(context.model.price, facts, quantity);
    return charge === undefined ? [] : [charge];
  });
  const [expected] = charges;
  if (expected === undefined) return undefined;
  return {
    worst: charges.reduce((most, charge) => (charge.amount > most.amount ? charge : most), expected),
    expected,
  };
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
    image_input: request.images.length > 0,
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

/** Every output that the request leaves open, as facts; the plain one first. */
function openOutputs(request: GenerationRequest, model: ModelConfig): PriceFacts[] {
  if (request.kind === 'image') {
    return product(
      facts('size', openValues(request.size, model.sizes)),
      facts('quality', openValues(request.quality, model.qualities)),
    );
  }
  return product(
    product(
      facts('resolution', openValues(request.resolution, model.resolutions)),
      facts('ratio', openValues(request.ratio, model.ratios)),
    ),
    product(
      facts('duration', openDurations(request, model)),
      facts('generate_audio', openSounds(request, model)),
    ),
  );
}

function facts<Name extends keyof PriceFacts>(name: Name, values: readonly PriceFacts[Name][]): PriceFacts[] {
  return values.map((value) => (value === undefined ? {} : { [name]: value }));
}

function product(left: readonly PriceFacts[], right: readonly PriceFacts[]): PriceFacts[] {
  return left.flatMap((one) => right.map((other) => ({ ...one, ...other })));
}

/** Words that leave the choice to the upstream. */
const openWords = new Set(['adaptive', 'auto']);

function openValues(asked: string | undefined, listed: readonly string[]): readonly (string | undefined)[] {
  if (asked !== undefined && !openWords.has(asked)) return [asked];
  const concrete = listed.filter((value) => !openWords.has(value));
  return concrete.length === 0 ? [undefined] : concrete;
}

/** The usual and the longest, and every length at which a price rule begins or ends in between. */
function openDurations(request: VideoRequest, model: ModelConfig): readonly (number | undefined)[] {
  if (typeof request.duration === 'number') return [request.duration];
  const { durations, price } = model;
  if (durations === undefined) return [undefined];
  const bounds = price.rules.flatMap(({ when }) => [when?.duration?.min, when?.duration?.max]);
  const between = bounds.filter(
    (bound) => bound !== undefined && bound > durations.min && bound < durations.max,
  );
  return [...new Set([durations.default ?? durations.max, durations.max, durations.min, ...between])];
}

/** Some upstreams add sound unless told not to; it matters only where a rule asks. */
function openSounds(request: VideoRequest, { price }: ModelConfig): readonly (boolean | undefined)[] {
  if (request.generateAudio !== undefined) return [request.generateAudio];
  return price.rules.some(({ when }) => when?.generate_audio !== undefined) ? [false, true] : [undefined];
}

function quantityOf(
  request: GenerationRequest,
  output: PriceFacts,
  context: QuoteContext,
): Quantity | undefined {
  const { resolution = '', ratio = '', duration } = output;
  switch (context.model.price.unit) {
    case 'call':
      return oneCall;
    case 'image':
      return request.kind === 'image' ? imageQuantity(request.n) : undefined;
    case 'second':
      return duration === undefined ? undefined : secondQuantity(duration);
    case 'million_tokens': {
      const tokens = context.estimateTokens?.({ resolution, ratio, durationSeconds: duration ?? 0 });
      return tokens === undefined ? undefined : tokenQuantity(tokens);
    }
    default:
      return context.model.price.unit satisfies never;
  }
}
