import { parseSize, type Pixels } from '../base/image-sizes.ts';
import { isListed } from './facts-of-request.ts';
import type { PlainFacts } from './model-facts.ts';
import { shapeIssue } from './model-facts-check.ts';

export interface VideoShape {
  readonly resolution: string;
  readonly ratio: string;
  readonly size: string;
}

type Pair = Pick<VideoShape, 'resolution' | 'ratio'>;

export interface ListedShapes {
  readonly resolutions: readonly string[];
  readonly ratios: readonly string[];
}

export type FactsOf = (pair: Partial<Pair>) => readonly PlainFacts[];

const usualResolutions = ['480p', '720p', '1080p', '4k'];
const usualRatios = ['21:9', '16:9', '4:3', '1:1', '3:4', '9:16'];

/**
 * Pixel sizes come from the model's facts. Without them, both common conventions apply: the shorter side has as many
 * pixels as the resolution has lines, or the frame has as many pixels as a 16:9 frame.
 */
export function videoShapes({ resolutions, ratios }: ListedShapes, factsOf: FactsOf): readonly VideoShape[] {
  const known = factsOf({});
  const listed = (own: readonly string[], name: 'resolutions' | 'ratios', usual: readonly string[]) =>
    own.length > 0 ? own : [...new Set(known.flatMap(({ [name]: list = usual }) => list))];
  const sized = listed(resolutions, 'resolutions', usualResolutions).flatMap((resolution) =>
    listed(ratios, 'ratios', usualRatios).flatMap((ratio) => {
      const pair = { resolution, ratio };
      const rendering = factsOf(pair).filter((facts) => shapeIssue(pair, facts) === undefined);
      return rendering.length === 0 ? [] : [sizesOf(pair, rendering).map((size) => ({ ...pair, size }))];
    }),
  );
  return [...sized.flatMap((sizes) => sizes.slice(0, 1)), ...sized.flatMap((sizes) => sizes.slice(1))];
}

function sizesOf(pair: Pair, facts: readonly PlainFacts[]): readonly string[] {
  const known = facts.flatMap(({ shapes }) => knownSize(pair, shapes) ?? []);
  return known.length > 0 ? [...new Set(known)] : nominalSizes(pair);
}

function knownSize({ resolution, ratio }: Pair, shapes: PlainFacts['shapes'] = {}): string | undefined {
  return Object.entries(shapes).find(([name]) => isListed(name, [resolution]))?.[1][ratio];
}

export function sizeOfShape(pair: Partial<Pair>, facts: readonly PlainFacts[]): string | undefined {
  const { resolution, ratio } = pair;
  if (resolution === undefined || ratio === undefined) return undefined;
  return sizesOf({ resolution, ratio }, facts)[0];
}

function nominalSizes({ resolution, ratio }: Pair): readonly string[] {
  const lines = linesOf(resolution);
  const [, wide, high] = /^(\d{1,2}(?:\.\d)?):(\d{1,2})$/.exec(ratio) ?? [];
  if (lines === undefined || wide === undefined || high === undefined) return [];
  const [width, height] = [Number(wide), Number(high)];
  if (width === 0 || height === 0) return [];
  const inLines = lines / Math.min(width, height);
  const inPixels = lines * Math.sqrt(16 / 9 / (width * height));
  const even = (side: number) => 2 * Math.round(side / 2);
  return [...new Set([inLines, inPixels].map((unit) => `${even(width * unit)}x${even(height * unit)}`))];
}

const linesOfWords: Readonly<Record<string, number>> = { '1k': 1080, '2k': 1440 };
const linesPerK = 540;

/**
 * Returns the shorter side of a 16:9 frame in pixels, or undefined if the resolution does not look like `720p` or `4k`.
 */
export function linesOf(resolution: string): number | undefined {
  const [, count, unit] = /^(\d{1,4})(p|k)$/i.exec(resolution) ?? [];
  if (count === undefined || unit === undefined) return undefined;
  if (unit.toLowerCase() === 'p') return Number(count);
  return linesOfWords[resolution.toLowerCase()] ?? Number(count) * linesPerK;
}

/**
 * Relative, per side. Vendors round both sides to multiples of up to 32 pixels, so 832x480, 854x480 and 866x496 are the
 * same shape.
 */
const sideTolerance = 0.04;

/**
 * Returns the nearest shape, or the first of two that are equally near. Returns undefined if none is within the
 * tolerance.
 */
export function shapeOfPixels(size: string, shapes: readonly VideoShape[]): VideoShape | undefined {
  const pixels = parseSize(size);
  if (pixels === undefined) return undefined;
  const near = shapes
    .map((shape) => ({ shape, distance: distance(pixels, parseSize(shape.size)) }))
    .filter((one) => one.distance <= sideTolerance);
  return near.toSorted((one, other) => one.distance - other.distance)[0]?.shape;
}

function distance({ width, height }: Pixels, known: Pixels | undefined): number {
  if (known === undefined) return Infinity;
  return Math.max(Math.abs(width / known.width - 1), Math.abs(height / known.height - 1));
}

export function shapesInWords(shapes: readonly VideoShape[]): string {
  const byResolution = new Map<string, Set<string>>();
  for (const { resolution, size } of shapes)
    byResolution.set(resolution, new Set([...(byResolution.get(resolution) ?? []), size]));
  return [...byResolution].map(([resolution, sizes]) => `${resolution}: ${[...sizes].join(', ')}`).join('; ');
}
