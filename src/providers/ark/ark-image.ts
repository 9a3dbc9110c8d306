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
 * (`sequential_image_generation`), whose number the model decides and the hold would not know.
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
  /** Output pixels; undefined: `adaptive` only. */
  readonly pixels?: { readonly min: number; readonly max: number };
  readonly fields: readonly string[];
}

const pixelsMax = 16_777_216;
const fourthGeneration: ImageFamily = {
  images: { min: 0, max: 14 },
  pixels: { min: 921_600, max: pixelsMax },
  fields: ['watermark', 'optimize_prompt_options'],
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
  [/seedream-4-5/, { ...fourthGeneration, pixels: { min: 3_686_400, max: pixelsMax } }],
  [/seedream-5/, { ...fourthGeneration, fields: [...fourthGeneration.fields, 'output_format', 'tools'] }],
];
const unknownFamily: ImageFamily = {
  images: { min: 0, max: 14 },
  pixels: { min: 1, max: pixelsMax },
  fields: ['watermark', 'seed', 'guidance_scale', 'output_format', 'optimize_prompt_options', 'tools'],
};

function familyOf(model: string): ImageFamily {
  return families.find(([pattern]) => pattern.test(model.toLowerCase()))?.[1] ?? unknownFamily;
}

function check(request: ImageRequest, model: string): RequestIssue | undefined {
  const { images, pixels } = familyOf(model);
  const count = request.images.length;
  if (count < images.min) return { param: 'image', message: 'The model edits an image; send one.' };
  if (count > images.max) {
    const message =
      images.max === 0 ? 'The model takes no images.' : `The model takes at most ${images.max} images.`;
    return { param: 'image', message };
  }
  if (request.mask !== undefined) return { param: 'mask', message: 'The model takes no mask.' };
  if ((request.extra['sequential_image_generation'] ?? 'disabled') !== 'disabled') {
    return { param: 'sequential_image_generation', message: 'Ask for several images with n.' };
  }
  return checkSize(request.size, pixels);
}

function checkSize(size: string | undefined, pixels: ImageFamily['pixels']): RequestIssue | undefined {
  if (size === undefined) return undefined;
  if (pixels === undefined) {
    return size === 'adaptive' ? undefined : { param: 'size', message: 'The size follows the image.' };
  }
  const asked = parseSize(size);
  if (asked === undefined) {
    return /^[1-4]k$/i.test(size)
      ? undefined
      : { param: 'size', message: 'size must be <width>x<height>, 1K, 2K, 3K or 4K.' };
  }
  const { width, height } = asked;
  const fits = width * height >= pixels.min && width * height <= pixels.max;
  return fits && width <= 16 * height && height <= 16 * width
    ? undefined
    : {
        param: 'size',
        message: `The model renders ${pixels.min} to ${pixels.max} pixels, no longer than 16:1.`,
      };
}

const pixelsPerToken = 256;
const sideOfWord: Readonly<Record<string, number>> = { '1k': 1024, '2k': 2048, '3k': 3072, '4k': 4096 };

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
  return callImageConvention(request, body, context, {
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
