import { Buffer } from 'node:buffer';
import { defined } from '../base/defined.ts';
import { imagesOf } from '../models/media-roles.ts';
import type { PlainFacts } from '../models/model-facts.ts';
import type { GenerationRequest } from '../models/request.ts';
import { secondQuantity, tokenQuantity, wholeQuantity } from '../money/measures.ts';
import type { Measure } from '../money/measures.ts';
import type { Bound } from '../money/price.ts';
import type { Quantity } from '../money/reckoning.ts';
import type { GivenInput } from '../providers/provider.ts';

/** The most input of one measure that may be billed, and whether that number is known. */
export interface GivenCount {
  readonly most: Quantity;
  readonly source: Bound['source'];
}

export type GivenCounts = { readonly [M in Measure]?: GivenCount };

/** Assumed token counts for models whose facts name none. A person decides about a report that exceeds them. */
const unknownTokens = { image: 8_192, video_second: 1_024, audio_second: 64, text: 8_192 };
/** Tokens that a vendor may add to those of the prompt. */
const textTokensBeside = 64;
/** The assumed total length of all input videos. */
const inputSecondsUnknown = 60;

/**
 * Counts input from the request, from measurement, or as the most that the model's facts allow. Every one of the
 * `calls` receives the whole input.
 */
export function givenCounts(
  request: GenerationRequest,
  facts: PlainFacts,
  { calls, ...given }: GivenInput & { readonly calls: number },
): GivenCounts {
  const tokens = { ...unknownTokens, ...defined(facts.tokens ?? {}) };
  const inputs = inputsOf(request);
  const seconds = secondsOf(request, facts, given);
  const counted = (count: number): GivenCount => ({ most: wholeQuantity(count * calls), source: 'request' });
  const assumed = (count: number): GivenCount => ({
    most: tokenQuantity(BigInt(Math.ceil(count) * calls)),
    source: 'assumed',
  });
  // A token is at least one byte.
  const text = Buffer.byteLength(request.prompt) + textTokensBeside;
  const images = inputs.pictures * tokens.image;
  const videos = (Number(seconds.most.numerator) / 1000) * tokens.video_second;
  const audios = inputs.audios * inputSecondsUnknown * tokens.audio_second;
  return {
    million_text_tokens: assumed(tokens.text),
    million_input_text_tokens: assumed(text),
    million_input_image_tokens: assumed(images),
    million_input_audio_tokens: assumed(audios),
    million_input_video_tokens: assumed(videos),
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

/**
 * The number of upstream calls for a request. A synchronous model may need several if one call returns fewer images
 * than requested.
 */
export function callsOf(request: GenerationRequest, facts: PlainFacts, canWait: boolean): number {
  return request.kind === 'video' || canWait ? 1 : Math.ceil(request.n / (facts.per_call ?? 1));
}

export const noInput: GivenInput = { inputSeconds: 0 };

/** Whether the request brings videos whose length nobody has measured. */
export function isUnmeasured(request: GenerationRequest, { inputSeconds }: GivenInput): boolean {
  return request.kind === 'video' && request.videos.length > 0 && inputSeconds === undefined;
}
