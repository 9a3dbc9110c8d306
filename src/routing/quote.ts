import { defined } from '../domain/defined.ts';
import type { ModelConfig } from '../config/gateway-file.ts';
import { imagesOf } from '../domain/media-roles.ts';
import { expectedQuantity, measuresLength, priceOf } from '../domain/price.ts';
import type { Charge, PriceFacts } from '../domain/price.ts';
import type { GenerationRequest } from '../domain/request.ts';
import type { EstimateOutput, PossibleOutput } from '../providers/provider.ts';
import { openOutputs } from './open-outputs.ts';

/** What a request costs on one channel, before it is rendered. */
export interface Quote {
  /** The dearest of everything that the request leaves open: the hold. */
  readonly worst: Charge;
  /** If the model renders its first resolution and ratio listed and its default duration. */
  readonly expected: Charge;
  /** Of the video that is paid for if nobody reports its length; absent: nothing names it. */
  readonly seconds?: number;
}

export interface QuoteContext {
  readonly model: ModelConfig;
  readonly channel: string;
  /** The adapter's formula; absent: it has none. */
  readonly estimateTokens?: ((output: EstimateOutput) => bigint | undefined) | undefined;
  /** What the upstream may render, according to its adapter. */
  readonly possible?: PossibleOutput | undefined;
}

/** Undefined: no price rule holds. */
export function quoteRequest(request: GenerationRequest, context: QuoteContext): Quote | undefined {
  const { model, channel, estimateTokens } = context;
  const fixed = requestFacts(request);
  const charges = openOutputs(request, model, context.possible ?? {}).flatMap(({ facts, seconds }) => {
    const allFacts = { ...fixed, ...facts, channel };
    const { resolution = '', ratio = '' } = facts;
    const quantity = expectedQuantity(model.price.unit, {
      ...defined({ seconds, images: request.kind === 'image' ? request.n : undefined }),
      tokens: () => estimateTokens?.({ resolution, ratio, durationSeconds: seconds ?? 0 }),
    });
    const charge = quantity === undefined ? undefined : priceOf(model.price, allFacts, quantity);
    return charge === undefined ? [] : [{ ...charge, ...defined({ seconds }) }];
  });
  const [expected] = charges;
  if (expected === undefined) return undefined;
  const worst = charges.reduce((most, charge) => (charge.amount > most.amount ? charge : most), expected);
  const { seconds } = measuresLength(model.price.unit) ? worst : expected;
  return { worst, expected, ...defined({ seconds }) };
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
