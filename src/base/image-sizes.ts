import { z } from 'zod';
import { defined } from './defined.ts';

const count = z.number().int().positive();

export const sizeInPixels = z
  .string()
  .refine((text) => /^[1-9]\d{1,4}x[1-9]\d{1,4}$/i.test(text), 'must be <width>x<height>, such as 1280x720');

const pixelFacts = z.strictObject({
  step: count.optional().describe('Each side must be a multiple of this number of pixels'),
  side_min: count.optional().describe('The minimum number of pixels per side'),
  side_max: count.optional().describe('The maximum number of pixels per side'),
  min: count.optional().describe('The minimum number of pixels in the whole image'),
  max: count.optional().describe('The maximum number of pixels in the whole image'),
  longest: z
    .number()
    .positive()
    .optional()
    .describe('The maximum ratio of the longer side to the shorter one'),
});

/**
 * A model's sizes can be a list of names or sizes (`auto`, `16:9`, `1024x1024`), any pixel size within bounds, or any
 * pixel size in one of the ratios. In the last case, the image must also have about as many pixels as one of the
 * classes, or as `about`.
 */
export const sizeFacts = z.strictObject({
  only: z
    .array(z.string().min(1))
    .optional()
    .describe('The only accepted sizes, exactly as a request writes them, such as auto, 16:9 and 1024x1024'),
  pixels: pixelFacts.optional(),
  classes: z
    .record(z.string().min(1), count.describe('The number of pixels of an image of this class'))
    .optional()
    .describe('The number of pixels of an image, by class name. The name can also be used as a size'),
  about: count
    .optional()
    .describe('The approximate number of pixels of every image, if there are no classes'),
  ratios: z
    .array(z.string().min(1))
    .optional()
    .describe('The ratios in which images of a class, or with about this many pixels, are rendered'),
  rounded_up: z
    .boolean()
    .optional()
    .describe(
      'Whether a size in pixels belongs to the smallest class with at least that many pixels. If false, a size belongs to a class with about the same number of pixels',
    ),
  tolerance: z
    .number()
    .positive()
    .optional()
    .describe(
      'How far a size in pixels may deviate from a ratio, as a fraction of the ratio (default: 0.02)',
    ),
});
export type SizeFacts = z.infer<typeof sizeFacts>;

export interface Pixels {
  readonly width: number;
  readonly height: number;
}

export function parseSize(size: string | undefined): Pixels | undefined {
  const match = /^(\d{1,5})[x*](\d{1,5})$/i.exec(size ?? '');
  return match === null ? undefined : { width: Number(match[1]), height: Number(match[2]) };
}

export interface ImageShape {
  readonly word?: string;
  readonly pixels?: Pixels;
  readonly class?: string;
  readonly ratio?: string;
}

export function shapeOf(size: string, sizes: SizeFacts | undefined): ImageShape | undefined {
  const pixels = parseSize(size);
  if (sizes === undefined) return defined({ word: size, pixels });
  const isSize = (word: string): boolean => word.toLowerCase() === size.toLowerCase();
  const { only = [], classes = {} } = sizes;
  const word = only.find(isSize);
  if (word !== undefined) return defined({ word, pixels });
  const named = Object.keys(classes).find(isSize);
  if (named !== undefined) return { class: named };
  if (pixels === undefined) return undefined;
  if (sizes.pixels !== undefined && isWithin(pixels, sizes.pixels)) return { pixels };
  return closeTo(pixels, sizes);
}

/** Words such as `2K` stand for a square whose sides have 2 × 1024 pixels. */
const squareWord = /^(\d(?:\.\d)?)k$/i;

export function pixelCount(size: string, sizes: SizeFacts = {}): number | undefined {
  const { class: named, ratio } = shapeOf(size, sizes) ?? {};
  const known = named === undefined ? undefined : sizes.classes?.[named];
  const count = known ?? (ratio === undefined ? undefined : sizes.about);
  if (count !== undefined) return count;
  const pixels = parseSize(size);
  if (pixels !== undefined) return pixels.width * pixels.height;
  const [, side] = squareWord.exec(size) ?? [];
  return side === undefined ? undefined : (Number(side) * 1024) ** 2;
}

function isWithin(
  { width, height }: Pixels,
  {
    step = 1,
    side_min = 1,
    side_max = Infinity,
    min = 1,
    max = Infinity,
    longest = Infinity,
  }: z.infer<typeof pixelFacts>,
): boolean {
  const fits = (side: number): boolean => side % step === 0 && side >= side_min && side <= side_max;
  return (
    fits(width) &&
    fits(height) &&
    width * height >= min &&
    width * height <= max &&
    Math.max(width, height) <= longest * Math.min(width, height)
  );
}

function closeTo(
  pixels: Pixels,
  { classes = {}, about, ratios, tolerance = toleranceUsual, rounded_up: isRounded }: SizeFacts,
): ImageShape | undefined {
  const ratio = ratios === undefined ? undefined : ratioOfPixels(pixels, ratios, tolerance);
  if (ratio === undefined) return undefined;
  if (about !== undefined && isAboutAsLarge(pixels, about)) return { ratio };
  const fits = (count: number): boolean =>
    isRounded === true
      ? count * (1 + tolerance) >= pixels.width * pixels.height
      : isAboutAsLarge(pixels, count);
  const fitting = Object.entries(classes).find(([, count]) => fits(count))?.[0];
  return fitting === undefined ? undefined : { ratio, class: fitting };
}

const toleranceUsual = 0.02;

/** @param tolerance - A fraction of the ratio. */
export function ratioOfPixels(
  { width, height }: Pixels,
  ratios: readonly string[],
  tolerance = toleranceUsual,
): string | undefined {
  const distance = (ratio: string): number => {
    const [wide = 1, high = 1] = ratio.split(':').map(Number);
    return Math.abs((width * high) / (height * wide) - 1);
  };
  const near = ratios.filter((ratio) => distance(ratio) <= tolerance);
  return near.toSorted((a, b) => distance(a) - distance(b))[0];
}

const pixelsDeviationMax = 0.35;

export function isAboutAsLarge({ width, height }: Pixels, pixels: number): boolean {
  return Math.abs((width * height) / pixels - 1) <= pixelsDeviationMax;
}

export function sizesInWords({ only = [], pixels, classes = {}, about, ratios = [] }: SizeFacts): string {
  const words = [...only, ...Object.keys(classes)];
  const such = about === undefined ? 'such an image' : `an image of ${megapixels(about)}`;
  const choices = [
    ...(words.length === 0 ? [] : [words.join(', ')]),
    ...(pixels === undefined ? [] : [boundsInWords(pixels)]),
    ...(ratios.length === 0 ? [] : [`pixels of about ${such} in one of ${ratios.join(', ')}`]),
  ];
  return choices.join(', or ');
}

const megapixels = (count: number): string => `${Number((count / 1024 ** 2).toFixed(2))} megapixels`;

function boundsInWords({ step, side_min, side_max, min, max, longest }: z.infer<typeof pixelFacts>): string {
  const span = (least: string | undefined, most: string | undefined): string[] => [
    ...(least === undefined ? [] : [`from ${least}`]),
    ...(most === undefined ? [] : [`up to ${most}`]),
  ];
  const area = (count: number | undefined) => (count === undefined ? undefined : megapixels(count));
  const bounds = [
    ...(step === undefined ? [] : [`in multiples of ${step}`]),
    ...span(side_min?.toString(), side_max?.toString()),
    ...span(area(min), area(max)),
    ...(longest === undefined ? [] : [`no longer than ${longest}:1`]),
  ];
  return ['<width>x<height>', ...bounds].join(' ');
}
