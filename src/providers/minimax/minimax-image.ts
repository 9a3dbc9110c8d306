import type { ImageShape } from '../../base/image-sizes.ts';
import type { ImageFacts } from '../../models/model-facts.ts';
import type { FactsTable } from '../../models/facts-table.ts';
import { z } from 'zod';
import type { ImageRequest, JsonObject } from '../../models/request.ts';
import { callMinimax } from './minimax-call.ts';
import { checkH3Image, generateH3Image, h3ImageFacts, isH3Image } from './minimax-h3-image.ts';
import { defined } from '../../base/defined.ts';
import {
  expiryAfter,
  optionalNumeric,
  readableItems,
  signedUrlExpiry,
  unreadableError,
} from '../shared/http-outcome.ts';
import { plainParameters, readImage } from '../shared/read-facts.ts';
import { LargeText } from '../shared/large-json.ts';
import type { OutgoingObject } from '../shared/file-data-url.ts';
import { imageAddress, imageAnswerBytesMax } from '../shared/image-input.ts';
import { UpstreamError } from '../provider.ts';
import type {
  GeneratedImage,
  GeneratedImages,
  ProviderContext,
  SynchronousImageProvider,
} from '../provider.ts';

const ratios = ['1:1', '16:9', '4:3', '3:2', '2:3', '3:4', '9:16', '21:9'];
const others: ImageFacts = {
  fields: { size: true },
  per_call: 9,
  references: { max: 1, mask: false },
  parameters: plainParameters('seed', 'prompt_optimizer', 'aigc_watermark'),
};

const minimaxImageFacts: FactsTable = {
  origin: { source: 'the vendor’s parameter tables', read: '2026-09' },
  models: [
    [
      /^MiniMax-H3-Image/,
      h3ImageFacts,
      { source: 'two resellers, which quote the vendor’s reference', read: '2026-11-11' },
    ],
    [
      /^image-01/,
      {
        ...others,
        prompt: { characters: 1500 },
        sizes: { only: ratios, pixels: { step: 8, side_min: 512, side_max: 2048 } },
      },
    ],
  ],
  others,
};

/** image-01 accepts one reference image, which must show a character. Responses omit failed images. */
export const minimaxImage: SynchronousImageProvider = {
  imageForms: ['url', 'data'],
  facts: minimaxImageFacts,
  check: (request, model) => (isH3Image(model) ? checkH3Image(request) : undefined),
  generate,
};

const linkLifeSeconds = 24 * 3600;

function buildImage(request: ImageRequest, context: ProviderContext): OutgoingObject {
  const { prompt, n, images, responseFormat } = request;
  const [image] = images.map(imageAddress);
  const { passed, shape } = readImage(request, minimaxImageFacts, context);
  return {
    ...passed,
    model: context.model,
    prompt,
    n,
    ...sizeFields(shape),
    ...(responseFormat === undefined ? {} : { response_format: responseFormat === 'url' ? 'url' : 'base64' }),
    ...(image === undefined ? {} : { subject_reference: [{ type: 'character', image_file: image }] }),
  };
}

function sizeFields({ pixels, word }: ImageShape): JsonObject {
  return pixels === undefined ? defined({ aspect_ratio: word }) : { ...pixels };
}

const answerSchema = z.object({
  data: z
    .object({
      image_urls: readableItems(z.string().min(1)).optional().catch(undefined),
      image_base64: readableItems(z.union([z.string().min(1), z.instanceof(LargeText)]))
        .optional()
        .catch(undefined),
    })
    .optional()
    .catch(undefined),
  metadata: z.object({ failed_count: optionalNumeric }).optional().catch(undefined),
});

async function generate(request: ImageRequest, context: ProviderContext): Promise<GeneratedImages> {
  if (isH3Image(context.model))
    return generateH3Image(request, readImage(request, minimaxImageFacts, context), context);
  const answer = await callMinimax(
    {
      method: 'POST',
      path: '/v1/image_generation',
      json: buildImage(request, context),
      limits: { bodyBytesMax: imageAnswerBytesMax, largeStrings: true },
    },
    context,
  );
  const { data, metadata } = answerSchema.safeParse(answer.json).data ?? {};
  const unsigned = expiryAfter(answer, linkLifeSeconds);
  const images: GeneratedImage[] = [
    ...(data?.image_urls ?? []).map((url) => defined({ url, expiresAt: signedUrlExpiry(url) ?? unsigned })),
    ...(data?.image_base64 ?? []).map((base64) => ({ base64 })),
  ];
  if (images.length > 0) return { images, facts: { images: images.length }, extra: {} };
  if ((metadata?.failed_count ?? 0) === 0) throw unreadableError(answer, 'it contains no image');
  throw new UpstreamError('rejected', 'The upstream generated no image.', {
    code: 'no_image',
    status: answer.status,
    failure: { class: 'internal' },
  });
}
