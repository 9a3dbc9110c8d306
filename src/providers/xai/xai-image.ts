import type { ImageFacts } from '../../models/model-facts.ts';
import type { FactsTable } from '../../models/facts-table.ts';
import { z } from 'zod';
import type { ImageRequest } from '../../models/request.ts';
import { callXai, costOf } from './xai-call.ts';
import { defined } from '../../base/defined.ts';
import { optionalText, readableItems, unreadableError } from '../shared/http-outcome.ts';
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

const ratios = [
  '1:1',
  '16:9',
  '9:16',
  '4:3',
  '3:4',
  '3:2',
  '2:3',
  '2:1',
  '1:2',
  '20:9',
  '9:20',
  '19.5:9',
  '9:19.5',
];
const usual: ImageFacts = {
  fields: { size: true, quality: true },
  per_call: 10,
  references: { max: 5, mask: false },
  sizes: { classes: { '1k': 1024 ** 2, '2k': 2048 ** 2 }, ratios },
  parameters: { ...plainParameters('output_format', 'user'), seed: { values: [] } },
};

const xaiImageFacts: FactsTable = {
  origin: { source: 'xai-sdk 1.21.0, @ai-sdk/xai 5.0.12', read: '2026-11-28' },
  retired: {
    source: 'the vendor’s notice of its retirement on 15 May',
    read: '2026-11-29',
    models: [
      [/^grok-2-image/, '2026-02-24'],
      [/^grok-imagine-image-pro/, '2026-05-15'],
    ],
  },
  models: [
    // The xai-sdk message types also include `high`, although the SDK's function offers only `low` and `medium`.
    [/-2\.0/, { ...usual, qualities: ['low', 'medium', 'high'] }],
    [/^grok-(?:2|imagine)-image/, { ...usual, qualities: [] }],
  ],
  others: { ...usual, references: { mask: false } },
};

/** If some of the images are moderated, the response omits them, but they may still be billed. */
export const xaiImage: SynchronousImageProvider = {
  imageForms: ['url', 'data'],
  facts: xaiImageFacts,
  generate,
};

function buildImage(request: ImageRequest, context: ProviderContext): OutgoingObject {
  const { prompt, n, responseFormat, images } = request;
  const { passed, shape } = readImage(request, xaiImageFacts, context);
  const inputs = images.map((image) => ({ url: imageAddress(image), type: 'image_url' }));
  const [only] = inputs;
  return {
    ...passed,
    model: context.model,
    prompt,
    n,
    ...defined({
      aspect_ratio: shape.ratio,
      resolution: shape.class ?? shape.word,
      response_format: responseFormat,
    }),
    ...(only === undefined ? {} : inputs.length === 1 ? { image: only } : { images: inputs }),
  };
}

const imageSchema = z.object({
  url: optionalText,
  b64_json: z
    .union([z.string().min(1), z.instanceof(LargeText)])
    .optional()
    .catch(undefined),
  respect_moderation: z.boolean().optional().catch(undefined),
});
const answerSchema = z.object({ data: readableItems(imageSchema) });

async function generate(request: ImageRequest, context: ProviderContext): Promise<GeneratedImages> {
  const answer = await callXai(
    {
      method: 'POST',
      path: request.images.length > 0 ? '/images/edits' : '/images/generations',
      json: buildImage(request, context),
      bodyBytesMax: imageAnswerBytesMax,
      largeStrings: true,
    },
    context,
  );
  const entries = answerSchema.safeParse(answer.json).data?.data ?? [];
  const images = entries.flatMap(
    ({ url, b64_json: base64, respect_moderation: isFine }): GeneratedImage[] => {
      if (isFine === false || (url === undefined && base64 === undefined)) return [];
      return [base64 === undefined ? defined({ url }) : { base64 }];
    },
  );
  if (images.length > 0)
    return defined({ images, facts: { images: images.length }, extra: {}, cost: costOf(answer.json) });
  if (!entries.some((entry) => entry.respect_moderation === false))
    throw unreadableError(answer, 'it contains no image');
  throw new UpstreamError('rejected', 'The images did not pass moderation.', {
    code: 'respect_moderation',
    status: answer.status,
    failure: { class: 'moderation_output' },
  });
}
