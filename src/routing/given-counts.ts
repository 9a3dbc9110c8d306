import { Buffer } from 'node:buffer';
import { defined } from '../base/defined.ts';
import { imagesOf } from '../models/media-roles.ts';
import type { PlainFacts } from '../models/model-facts.ts';
import type { GenerationRequest } from '../models/request.ts';
import { secondQuantity, tokenQuantity, wholeQuantity, type Measure } from '../money/measures.ts';
import type { Bound } from '../money/price.ts';
import type { Quantity } from '../money/reckoning.ts';
import type { GivenInput } from '../providers/provider.ts';

/** The highest amount of one kind of input that can be billed, and where that number comes from. */
export interface GivenCount {
  readonly most: Quantity;
  readonly source: Bound['source'];
}

export type GivenCounts = { readonly [M in Measure]?: GivenCount };

/** Used for models whose facts contain no token counts. If the upstream reports more, an operator decides. */
const unknownTokens = { image: 8_192, video_second: 1_024, audio_second: 64, text: 8_192 };
/** A vendor may add this many tokens to the prompt. */
const textTokensBeside = 64;
const inputSecondsUnknown = 60;

interface Given extends GivenInput {
  /** Each upstream call receives the entire input. */
  readonly calls: number;
  readonly priced: readonly Measure[];
}

export function givenCounts(
  request: GenerationRequest,
  facts: PlainFacts,
  { calls, priced, ...given }: Given,
): GivenCounts {
  const tokens = { ...unknownTokens, ...defined(facts.tokens ?? {}) };
  const inputs = inputsOf(request);
  const seconds = secondsOf(request, facts, given);
  const counted = (count: number): GivenCount => ({ most: wholeQuantity(count * calls), source: 'request' });
  const assumed = (count: number): GivenCount => ({
    most: tokenQuantity(BigInt(Math.ceil(count) * calls)),
    source: 'assumed',
  });
  // Every token has at least one byte, so the prompt has at most as many tokens as bytes.
  const text = Buffer.byteLength(request.prompt) + textTokensBeside;
  const images = inputs.pictures * tokens.image;
  const videos = (Number(seconds.most.numerator) / 1000) * tokens.video_second;
  const audios = inputs.audios * inputSecondsUnknown * tokens.audio_second;
  const media = [
    ['million_input_image_tokens', images],
    ['million_input_audio_tokens', audios],
    ['million_input_video_tokens', videos],
  ] as const;
  const asText = media.reduce(
    (sum, [measure, count]) => (priced.includes(measure) ? sum : sum + count),
    text,
  );
  return {
    million_text_tokens: assumed(tokens.text),
    million_input_text_tokens: assumed(asText),
    ...Object.fromEntries(media.map(([measure, count]) => [measure, assumed(count)])),
    million_cached_tokens: assumed(text + images + audios + videos),
    input_second: seconds,
    input_image: counted(inputs.images),
    reference_image: counted(inputs.references),
  };
}

function inputsOf(request: GenerationRequest) {
  if (request.kind === 'image') {
    const images = request.images.length;
    return { images, pictures: images + (request.mask === undefined ? 0 : 1), references: images, audios: 0 };
  }
  const images = imagesOf(request).length;
  return { images, pictures: images, references: request.references.length, audios: request.audios.length };
}

function secondsOf(request: GenerationRequest, facts: PlainFacts, { inputSeconds }: GivenInput): GivenCount {
  if (request.kind === 'image' || request.videos.length === 0) {
    return { most: secondQuantity(0), source: 'request' };
  }
  if (inputSeconds !== undefined) return { most: secondQuantity(inputSeconds), source: 'measured' };
  return { most: secondQuantity(facts.input_seconds ?? inputSecondsUnknown), source: 'assumed' };
}

export function callsOf(request: GenerationRequest, facts: PlainFacts, canWait: boolean): number {
  return request.kind === 'video' || canWait ? 1 : Math.ceil(request.n / (facts.per_call ?? 1));
}

export const noInput: GivenInput = { inputSeconds: 0 };

export function isUnmeasured(request: GenerationRequest, { inputSeconds }: GivenInput): boolean {
  return request.kind === 'video' && request.videos.length > 0 && inputSeconds === undefined;
}
