import { parseSize } from '../../base/image-sizes.ts';
import type { FactsTable, ImageFacts, PlainFacts } from '../../models/model-facts.ts';
import { plainParameters, readImage } from '../shared/read-facts.ts';
import { defined } from '../../base/defined.ts';
import type { ImageRequest, JsonObject } from '../../models/request.ts';
import { openaiBill } from './openai-bill.ts';
import { openaiFailures } from './openai-failures.ts';
import { callImageConvention, readConventionRefusal } from '../shared/image-convention.ts';
import type {
  GeneratedImages,
  ImageContext,
  Provider,
  ProviderContext,
  SynchronousImageProvider,
} from '../provider.ts';

const common = ['background', 'output_format', 'output_compression', 'user'];
const fields = { size: true, quality: true };
const others: ImageFacts = {
  fields,
  per_call: 10,
  data_only: true,
  // 65, plus 129 for each of up to three tiles. Source: the guide to images.
  tokens: { image: 452, text: 0 },
  parameters: plainParameters(...common),
  cases: [
    { when: { brings: ['references'] }, facts: { parameters: plainParameters('input_fidelity') } },
    // The most tokens that high fidelity adds, which a tall image reaches.
    { when: { metadata: { input_fidelity: 'high' } }, facts: { tokens: { image: 6_692 } } },
    { when: { lacks: ['references'] }, facts: { parameters: plainParameters('moderation') } },
  ],
};
const current: ImageFacts = {
  ...others,
  parameters: plainParameters(...common, 'partial_images'),
  references: { max: 16, mask: true },
  sizes: { only: ['1024x1024', '1536x1024', '1024x1536', 'auto'] },
  qualities: ['auto', 'high', 'medium', 'low'],
};

/** Source: the API reference. */
const openaiImageFacts: FactsTable = {
  models: [
    [
      /dall-e-2/,
      {
        fields,
        per_call: 10,
        references: { max: 1, mask: true },
        sizes: { only: ['256x256', '512x512', '1024x1024'] },
        qualities: ['standard'],
        parameters: plainParameters('user'),
      },
    ],
    [
      /dall-e-3/,
      {
        fields,
        references: { max: 0, mask: false },
        sizes: { only: ['1024x1024', '1792x1024', '1024x1792'] },
        qualities: ['hd', 'standard'],
        parameters: plainParameters('style', 'user'),
      },
    ],
    [
      /gpt-image-2/,
      // Input fidelity is always high.
      {
        ...current,
        tokens: { image: 6_692, text: 0 },
        sizes: { ...current.sizes, pixels: { step: 16, max: 3840 * 2160, longest: 3 } },
      },
    ],
    [/gpt-image/, current],
  ],
  others,
};

/**
 * OpenAI images. Not covered: variations, and the video API, which its vendor has announced to shut down;
 * gateways that speak its dialect are served by `gateway`.
 */
const openaiImage: SynchronousImageProvider = {
  imageForms: ['file', 'data'],
  facts: openaiImageFacts,
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
  bill: openaiBill,
};

/** An image makes it an edit, whichever route the caller took: generation accepts none. */
function isEdit(request: ImageRequest): boolean {
  return request.images.length > 0;
}

async function generate(request: ImageRequest, context: ImageContext): Promise<GeneratedImages> {
  const edit = isEdit(request);
  const fields = fieldsOf(request, context);
  const streamed = partialImagesOf(fields) > 0;
  const body = {
    path: edit ? '/images/edits' : '/images/generations',
    fields: streamed ? { ...fields, stream: true } : fields,
    multipart: edit,
    streamed,
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
/** Source: the guide to streaming images. */
const tokensOfPartialImage = 100;

/** Quality left open counts as the highest, size left open as the largest; larger sizes in proportion. */
function estimateTokens(request: ImageRequest, { data_only: isData, sizes }: PlainFacts): bigint | undefined {
  if (isData !== true) return undefined;
  const tokens = tokensOfTallImage[request.quality ?? 'high'] ?? tokensOfTallImage['high'] ?? 0;
  const asked = parseSize(request.size);
  const pixels = asked === undefined ? (sizes?.pixels?.max ?? tallImagePixels) : asked.width * asked.height;
  const partials = tokensOfPartialImage * partialImagesOf(request.extra);
  return BigInt(request.n * (Math.ceil(tokens * Math.max(1, pixels / tallImagePixels)) + partials));
}

/** How many unfinished images of each image are asked for. */
function partialImagesOf({ partial_images: asked }: JsonObject): number {
  return typeof asked === 'number' ? asked : 0;
}

function fieldsOf(request: ImageRequest, context: ProviderContext): JsonObject {
  const { passed, size, facts } = readImage(request, openaiImageFacts, context);
  return {
    ...passed,
    model: context.model,
    prompt: request.prompt,
    n: request.n,
    ...defined({ size }),
    // Models that always send base64 refuse the field.
    ...(facts.data_only === true ? {} : { response_format: request.responseFormat ?? 'url' }),
  };
}
