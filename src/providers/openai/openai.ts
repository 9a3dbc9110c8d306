import { defined } from '../../domain/defined.ts';
import type { ImageRequest, JsonObject } from '../../domain/request.ts';
import { openaiFailures } from './openai-failures.ts';
import { callImageConvention, pick, readConventionRefusal } from '../shared/image-convention.ts';
import { parseSize } from '../shared/image-input.ts';
import type {
  GeneratedImages,
  Provider,
  ProviderContext,
  RequestIssue,
  SynchronousImageProvider,
} from '../provider.ts';

/**
 * OpenAI images. Not covered: streaming, variations, and the video API, which its vendor has announced to shut down;
 * gateways that speak its dialect are served by `gateway`.
 */
const openaiImage: SynchronousImageProvider = {
  imageForms: ['file', 'data'],
  imagesPerCall: (model) => familyOf(model).imagesPerCall,
  sendsDataOnly: (model) => !familyOf(model).links,
  check,
  estimateTokens,
  generate,
};

export const openai: Provider = {
  about: {
    vendor: 'OpenAI',
    inputs: 'text; images and a mask for edits',
    unverified: ['whether the announced end of the video API took place; it is not used'],
  },
  image: openaiImage,
};

interface ImageFamily {
  readonly imagesPerCall: number;
  readonly editImagesMax: number;
  readonly sizes: readonly string[];
  /** Any multiple of 16 up to this many pixels, not longer than 3:1. */
  readonly freePixelsMax?: number;
  readonly qualities: readonly string[];
  /** Links can be asked for; the others always send base64. */
  readonly links: boolean;
  readonly fields: readonly string[];
}

const current: ImageFamily = {
  imagesPerCall: 10,
  editImagesMax: 16,
  sizes: ['1024x1024', '1536x1024', '1024x1536', 'auto'],
  qualities: ['auto', 'high', 'medium', 'low'],
  links: false,
  fields: ['background', 'output_format', 'output_compression', 'moderation', 'input_fidelity', 'user'],
};

/** Source: the API reference. The first pattern that matches counts. */
const families: readonly (readonly [RegExp, ImageFamily])[] = [
  [
    /dall-e-2/,
    {
      imagesPerCall: 10,
      editImagesMax: 1,
      sizes: ['256x256', '512x512', '1024x1024'],
      qualities: ['standard'],
      links: true,
      fields: ['user'],
    },
  ],
  [
    /dall-e-3/,
    {
      imagesPerCall: 1,
      editImagesMax: 0,
      sizes: ['1024x1024', '1792x1024', '1024x1792'],
      qualities: ['hd', 'standard'],
      links: true,
      fields: ['style', 'user'],
    },
  ],
  [/gpt-image-2/, { ...current, freePixelsMax: 3840 * 2160 }],
];

function familyOf(model: string): ImageFamily {
  return families.find(([pattern]) => pattern.test(model))?.[1] ?? current;
}

/** An image makes it an edit, whichever route the caller took: generation accepts none. */
function isEdit(request: ImageRequest): boolean {
  return request.images.length > 0;
}

function check(request: ImageRequest, model: string): RequestIssue | undefined {
  const family = familyOf(model);
  if (request.images.length > family.editImagesMax) {
    const max = family.editImagesMax;
    return {
      param: 'image',
      message: max === 0 ? 'The model does not accept images.' : `The model accepts at most ${max} images.`,
    };
  }
  if (request.mask !== undefined && !isEdit(request)) {
    return { param: 'mask', message: 'A mask needs an image.' };
  }
  if (request.quality !== undefined && !family.qualities.includes(request.quality)) {
    return { param: 'quality', message: `quality must be one of ${family.qualities.join(', ')}.` };
  }
  return checkSize(request.size, family);
}

function checkSize(size: string | undefined, family: ImageFamily): RequestIssue | undefined {
  if (size === undefined || family.sizes.includes(size)) return undefined;
  const asked = parseSize(size);
  if (asked !== undefined && family.freePixelsMax !== undefined) {
    const { width, height } = asked;
    const fits = width * height > 0 && width * height <= family.freePixelsMax;
    if (fits && width % 16 === 0 && height % 16 === 0 && width <= 3 * height && height <= 3 * width) {
      return undefined;
    }
    return { param: 'size', message: 'Width and height must be multiples of 16, up to 3840x2160 and 3:1.' };
  }
  return { param: 'size', message: `size must be one of ${family.sizes.join(', ')}.` };
}

async function generate(request: ImageRequest, context: ProviderContext): Promise<GeneratedImages> {
  const edit = isEdit(request);
  const body = {
    path: edit ? '/images/edits' : '/images/generations',
    fields: fieldsOf(request, context.model),
    multipart: edit,
  } as const;
  return callImageConvention({ request, body }, context, {
    readRefusal: readConventionRefusal,
    failures: openaiFailures,
    linkLifetimeSeconds: 3600,
  });
}

/** Output tokens of one image of 1024 x 1536 pixels, the dearest of the fixed sizes. Source: the pricing guide. */
const tokensOfTallImage: Readonly<Record<string, number>> = { low: 408, medium: 1_584, high: 6_240 };
const tallImagePixels = 1024 * 1536;

/** Quality left open counts as the highest, size left open as the largest; larger sizes in proportion. */
function estimateTokens(request: ImageRequest, model: string): bigint | undefined {
  const family = familyOf(model);
  if (family.links) return undefined;
  const tokens = tokensOfTallImage[request.quality ?? 'high'] ?? tokensOfTallImage['high'] ?? 0;
  const asked = parseSize(request.size);
  const pixels = asked === undefined ? (family.freePixelsMax ?? tallImagePixels) : asked.width * asked.height;
  return BigInt(request.n * Math.ceil(tokens * Math.max(1, pixels / tallImagePixels)));
}

const generationOnly = ['moderation', 'style'];
const editOnly = ['input_fidelity'];

function fieldsOf(request: ImageRequest, model: string): JsonObject {
  const family = familyOf(model);
  const foreign = isEdit(request) ? generationOnly : editOnly;
  return {
    ...pick(
      request.extra,
      family.fields.filter((name) => !foreign.includes(name)),
    ),
    model,
    prompt: request.prompt,
    n: request.n,
    ...defined({ size: request.size }),
    ...defined({ quality: request.quality }),
    // Models that always send base64 refuse the field.
    ...(family.links ? { response_format: request.responseFormat ?? 'url' } : {}),
  };
}
