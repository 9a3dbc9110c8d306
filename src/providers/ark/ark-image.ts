import { defined } from '../../domain/defined.ts';
import type { ImageRequest, JsonObject } from '../../domain/request.ts';
import { readArkRefusal } from './ark-answer.ts';
import { arkFailures } from './ark-failures.ts';
import { callImageConvention, pick } from '../shared/image-convention.ts';
import { parseSize } from '../shared/image-input.ts';
import type {
  GeneratedImages,
  ProviderContext,
  RequestIssue,
  SynchronousImageProvider,
} from '../provider.ts';

/**
 * Seedream and SeedEdit: one path for generation and editing, no `n`. Not covered: streaming, and image groups
 * (`sequential_image_generation`), whose number the model decides and the hold would not know; nor layers
 * (`layer_decomposition`), which are the same.
 */
export const arkImage: SynchronousImageProvider = {
  imageForms: ['url', 'data'],
  imagesPerCall: () => 1,
  check,
  estimateTokens,
  generate,
};

interface ImageFamily {
  readonly images: { readonly min: number; readonly max: number };
  /** Output pixels, and what their sides are multiples of; undefined: `adaptive` only. */
  readonly pixels?: { readonly min: number; readonly max: number; readonly step?: number };
  /** Sizes by name; the model then chooses the ratio. */
  readonly levels?: readonly string[];
  readonly fields: readonly string[];
}

const pixelsMax = 16_777_216;
const fourthGeneration: ImageFamily = {
  images: { min: 0, max: 14 },
  pixels: { min: 921_600, max: pixelsMax },
  levels: ['1K', '2K', '4K'],
  fields: ['watermark', 'optimize_prompt_options'],
};
/** No groups, no stream; those fields are refused whatever their value. */
const fifthPro: ImageFamily = {
  images: { min: 0, max: 10 },
  pixels: { min: 921_600, max: 2048 * 2048, step: 16 },
  levels: ['1K', '2K'],
  fields: ['watermark', 'output_format', 'optimize_prompt', 'optimize_prompt_options'],
};

/** Source: the vendor's parameter table; the first pattern that matches counts, none: the upstream decides. */
const families: readonly (readonly [RegExp, ImageFamily])[] = [
  [/seededit/, { images: { min: 1, max: 1 }, fields: ['watermark', 'seed', 'guidance_scale'] }],
  [
    /seedream-3/,
    {
      images: { min: 0, max: 0 },
      pixels: { min: 512 * 512, max: 2048 * 2048 },
      fields: ['watermark', 'seed', 'guidance_scale'],
    },
  ],
  [/seedream-4-0/, fourthGeneration],
  [/seedream-4-5/, { ...fourthGeneration, pixels: { min: 3_686_400, max: pixelsMax }, levels: ['2K', '4K'] }],
  [
    /seedream-5-5/,
    {
      ...fifthPro,
      pixels: { min: 1, max: 2048 * 2048 },
      levels: ['1K', '1.5K', '2K'],
      fields: [...fifthPro.fields, 'background'],
    },
  ],
  [/seedream-5-0-pro/, fifthPro],
  [/seedream-5-0-flash/, { ...fifthPro, pixels: { min: 1, max: 2048 * 2048 }, levels: ['1K', '1.5K', '2K'] }],
  // "Lite" is the model of the plain name.
  [
    /seedream-5/,
    {
      ...fourthGeneration,
      pixels: { min: 3_686_400, max: pixelsMax },
      levels: ['2K', '3K', '4K'],
      fields: [...fourthGeneration.fields, 'optimize_prompt', 'output_format', 'tools'],
    },
  ],
];
const unknownFamily: ImageFamily = {
  images: { min: 0, max: 14 },
  pixels: { min: 1, max: pixelsMax },
  fields: ['watermark', 'seed', 'guidance_scale', 'output_format', 'optimize_prompt_options', 'tools'],
};

/** Groups are refused, but by name: the caller learns what to send in their place. */
export const arkImageFields: readonly string[] = [
  'sequential_image_generation',
  ...[unknownFamily, ...families.map(([, family]) => family)].flatMap(({ fields }) => fields),
];

function familyOf(model: string): ImageFamily {
  return families.find(([pattern]) => pattern.test(model.toLowerCase()))?.[1] ?? unknownFamily;
}

function check(request: ImageRequest, model: string): RequestIssue | undefined {
  const { images } = familyOf(model);
  const count = request.images.length;
  if (count < images.min) return { param: 'image', message: 'The model edits an image; send one.' };
  if (count > images.max) {
    const message =
      images.max === 0
        ? 'The model does not accept images.'
        : `The model accepts at most ${images.max} images.`;
    return { param: 'image', message };
  }
  if (request.mask !== undefined) return { param: 'mask', message: 'The model does not accept a mask.' };
  if ((request.extra['sequential_image_generation'] ?? 'disabled') !== 'disabled') {
    return { param: 'sequential_image_generation', message: 'Use n to request several images.' };
  }
  return checkSize(request.size, familyOf(model)) ?? checkBackground(request);
}

/** A JPEG cannot be transparent. */
function checkBackground({ extra }: ImageRequest): RequestIssue | undefined {
  return extra['background'] === 'transparent' && extra['output_format'] === 'jpeg'
    ? { param: 'background', message: 'A jpeg cannot be transparent.' }
    : undefined;
}

function checkSize(size: string | undefined, { pixels, levels }: ImageFamily): RequestIssue | undefined {
  if (size === undefined) return undefined;
  if (pixels === undefined) {
    return size === 'adaptive' ? undefined : { param: 'size', message: 'The size follows the image.' };
  }
  const asked = parseSize(size);
  if (asked === undefined) {
    const known = levels ?? Object.keys(sideOfWord).map((word) => word.toUpperCase());
    return known.includes(size.toUpperCase())
      ? undefined
      : { param: 'size', message: `size must be <width>x<height> or one of ${known.join(', ')}.` };
  }
  const { width, height } = asked;
  const { min, max, step = 1 } = pixels;
  if (width % step !== 0 || height % step !== 0) {
    return { param: 'size', message: `Width and height must be multiples of ${step}.` };
  }
  const fits = width * height >= min && width * height <= max;
  return fits && width <= 16 * height && height <= 16 * width
    ? undefined
    : {
        param: 'size',
        message: `The model renders ${min} to ${max} pixels, no longer than 16:1.`,
      };
}

const pixelsPerToken = 256;
const sideOfWord: Readonly<Record<string, number>> = {
  '1k': 1024,
  '1.5k': 1536,
  '2k': 2048,
  '3k': 3072,
  '4k': 4096,
};

/** Width x height / 256 for each image; a size left open counts as the largest. Source: the vendor's usage rule. */
function estimateTokens({ size, n }: ImageRequest, model: string): bigint {
  const asked = parseSize(size);
  const side = sideOfWord[size?.toLowerCase() ?? ''];
  const largest = familyOf(model).pixels?.max ?? pixelsMax;
  const pixels =
    asked === undefined ? (side === undefined ? largest : side * side) : asked.width * asked.height;
  return BigInt(n) * BigInt(Math.ceil(pixels / pixelsPerToken));
}

async function generate(request: ImageRequest, context: ProviderContext): Promise<GeneratedImages> {
  const body = {
    path: '/images/generations',
    fields: fieldsOf(request, context.model),
    multipart: false,
  } as const;
  return callImageConvention({ request, body }, context, {
    readRefusal: readArkRefusal,
    failures: arkFailures,
    linkLifetimeSeconds: 24 * 3600,
  });
}

function fieldsOf(request: ImageRequest, model: string): JsonObject {
  return {
    ...pick(request.extra, familyOf(model).fields),
    model,
    prompt: request.prompt,
    response_format: request.responseFormat ?? 'url',
    ...defined({ size: request.size }),
  };
}
