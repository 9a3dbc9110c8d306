import { taskKinds, type TaskKind } from '../base/task-kind.ts';
import { measureMax, type SettleFacts, type Usage } from './settle-facts.ts';
import type { Quantity } from './reckoning.ts';

/** docs/contributing.md lists what to change when adding a measure. */
export const measures = [
  'million_tokens',
  'million_text_tokens',
  'million_input_text_tokens',
  'million_input_image_tokens',
  'million_input_audio_tokens',
  'million_input_video_tokens',
  'million_cached_tokens',
  'second',
  'frame',
  'input_second',
  'image',
  'megapixel',
  'input_image',
  'reference_image',
  'call',
] as const;
export type Measure = (typeof measures)[number];

export interface Extent {
  readonly seconds?: number;
  readonly framesPerSecond?: number;
  readonly images?: number;
  readonly pixels?: number;
  /** Undefined if the adapter's formula cannot determine the number of tokens. */
  readonly tokens: () => bigint | undefined;
}

type TokenCount = Exclude<keyof Usage, 'completionTokens' | 'totalTokens'>;

interface MeasureRow {
  readonly words: string;
  readonly kinds: readonly TaskKind[];
  readonly rendered?: (extent: Extent) => Quantity | undefined;
  readonly reported: (facts: SettleFacts) => Quantity | undefined;
  readonly usageField?: TokenCount;
}

const rows: Readonly<Record<Measure, MeasureRow>> = {
  million_tokens: {
    words: 'million tokens',
    kinds: taskKinds,
    rendered: ({ tokens }) => optionally(tokens(), tokenQuantity),
    // `totalTokens` includes the input, so use it only if `completionTokens` was not reported.
    reported: ({ usage }) => tokens(usage?.completionTokens) ?? tokens(usage?.totalTokens),
  },
  million_text_tokens: tokensIn('textTokens', 'million text output tokens'),
  million_input_text_tokens: tokensIn('inputTextTokens', 'million text input tokens'),
  million_input_image_tokens: tokensIn('inputImageTokens', 'million image input tokens'),
  million_input_audio_tokens: tokensIn('inputAudioTokens', 'million audio input tokens'),
  million_input_video_tokens: tokensIn('inputVideoTokens', 'million video input tokens'),
  million_cached_tokens: tokensIn('cachedTokens', 'million cached input tokens'),
  second: {
    words: 'seconds',
    kinds: ['video'],
    rendered: ({ seconds }) => optionally(seconds, secondQuantity),
    reported: ({ durationSeconds }) => optionally(credible(durationSeconds), secondQuantity),
  },
  frame: {
    words: 'frames',
    kinds: ['video'],
    rendered: ({ seconds, framesPerSecond }) =>
      seconds === undefined || framesPerSecond === undefined
        ? undefined
        : wholeQuantity(framesIn(seconds, framesPerSecond)),
    reported: ({ frames }) => optionally(credible(frames), (count) => wholeQuantity(Math.ceil(count))),
  },
  input_second: {
    words: 'seconds of input video',
    kinds: ['video'],
    reported: ({ inputSeconds }) => optionally(credibleOrNone(inputSeconds), secondQuantity),
  },
  image: {
    words: 'images',
    kinds: ['image'],
    rendered: ({ images }) => optionally(images, wholeQuantity),
    reported: ({ images }) =>
      Number.isInteger(images) ? optionally(credible(images), wholeQuantity) : undefined,
  },
  megapixel: {
    words: 'megapixels',
    kinds: ['image'],
    rendered: ({ images, pixels }) =>
      images === undefined || pixels === undefined ? undefined : pixelQuantity(pixels, images),
    // Computed from the size of each image instead.
    reported: () => undefined,
  },
  input_image: {
    words: 'input images',
    kinds: taskKinds,
    reported: ({ inputImages }) =>
      Number.isInteger(inputImages) ? optionally(credibleOrNone(inputImages), wholeQuantity) : undefined,
  },
  reference_image: { words: 'reference images', kinds: taskKinds, reported: () => undefined },
  call: { words: 'calls', kinds: taskKinds, reported: () => wholeQuantity(1) },
};

function tokensIn(usageField: TokenCount, words: string): MeasureRow {
  return { words, kinds: taskKinds, usageField, reported: ({ usage }) => counted(usage?.[usageField]) };
}

export const usageFields: readonly (readonly [Measure, TokenCount])[] = measures.flatMap((measure) => {
  const { usageField } = rows[measure];
  return usageField === undefined ? [] : [[measure, usageField] as const];
});

function tokens(count: number | undefined): Quantity | undefined {
  return optionally(credible(count), (value) => tokenQuantity(BigInt(Math.ceil(value))));
}

/** Accepts zero, unlike `tokens`. */
function counted(count: number | undefined): Quantity | undefined {
  return optionally(credibleOrNone(count), (value) => tokenQuantity(BigInt(Math.ceil(value))));
}

function optionally<Value, Result>(
  value: Value | undefined,
  use: (value: Value) => Result,
): Result | undefined {
  return value === undefined ? undefined : use(value);
}

export function tokenQuantity(tokens: bigint): Quantity {
  return { numerator: tokens, denominator: 1_000_000n };
}

/** Upstreams report seconds as JSON numbers. Rounding them to milliseconds keeps amounts exact. */
export function secondQuantity(seconds: number): Quantity {
  return { numerator: BigInt(Math.round(seconds * 1000)), denominator: 1000n };
}

/** Counts in milliseconds, because `2.2 * 25` is slightly more than 55. */
function framesIn(seconds: number, framesPerSecond: number): number {
  const { numerator, denominator } = secondQuantity(seconds);
  return Math.ceil((Number(numerator) * framesPerSecond) / Number(denominator));
}

export function wholeQuantity(count: number): Quantity {
  return { numerator: BigInt(count), denominator: 1n };
}

/** A megapixel has 1024 x 1024 pixels. Each image is rounded up, as vendors do. */
export function pixelQuantity(pixels: number, images: number): Quantity {
  return wholeQuantity(Math.ceil(pixels / 1024 ** 2) * images);
}

export function measureWords(measure: Measure): string {
  return rows[measure].words;
}

export function measureSells(measure: Measure, kind: TaskKind): boolean {
  return rows[measure].kinds.includes(kind);
}

export function isRendered(measure: Measure): boolean {
  return rows[measure].rendered !== undefined;
}

export function isOfLength(measure: Measure): boolean {
  return measure === 'second' || measure === 'frame';
}

export function isOfImage(measure: Measure): boolean {
  return measure === 'image' || measure === 'megapixel';
}

export function renderedQuantity(measure: Measure, extent: Extent): Quantity | undefined {
  return rows[measure].rendered?.(extent);
}

export function reportedQuantity(measure: Measure, facts: SettleFacts): Quantity | undefined {
  return rows[measure].reported(facts);
}

/**
 * An impossible number becomes undefined, so that it cannot block a settlement. Zero is impossible too, because a
 * successful task must have produced something.
 */
export function credible(value: number | undefined): number | undefined {
  return value !== undefined && value > 0 && value <= measureMax ? value : undefined;
}

function credibleOrNone(value: number | undefined): number | undefined {
  return value === 0 ? 0 : credible(value);
}
