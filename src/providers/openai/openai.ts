import { parseSize } from '../../base/image-sizes.ts';
import type { ImageFacts, PlainFacts } from '../../models/model-facts.ts';
import type { FactsTable } from '../../models/facts-table.ts';
import { plainParameters, readImage } from '../shared/read-facts.ts';
import { defined } from '../../base/defined.ts';
import type { ImageRequest, JsonObject } from '../../models/request.ts';
import { openaiBill } from './openai-bill.ts';
import { openaiFailures } from './openai-failures.ts';
import { callImageConvention, readConventionRefusal } from '../shared/image-convention.ts';
import { bearer, isSuccess, refusalError } from '../shared/http-outcome.ts';
import type {
  GeneratedImages,
  ImageContext,
  Provider,
  ProviderContext,
  SynchronousImageProvider,
} from '../provider.ts';
import { UpstreamError } from '../provider.ts';

const common = ['background', 'output_format', 'output_compression', 'user'];
const fields = { size: true, quality: true };
/** Only generations accept `moderation`. Edits reject it. */
const moderated = {
  when: { lacks: ['references'] },
  facts: { parameters: plainParameters('moderation') },
} satisfies NonNullable<ImageFacts['cases']>[number];
const others: ImageFacts = {
  fields,
  per_call: 10,
  data_only: true,
  // 65 tokens, plus 129 per tile for up to three tiles. Source: the images guide.
  tokens: { image: 452, text: 0 },
  parameters: plainParameters(...common),
  cases: [
    { when: { brings: ['references'] }, facts: { parameters: plainParameters('input_fidelity') } },
    // Includes the most that high fidelity can add, which is for a tall image.
    { when: { metadata: { input_fidelity: 'high' } }, facts: { tokens: { image: 6_692 } } },
    moderated,
  ],
};
const gptImage: ImageFacts = {
  ...others,
  parameters: {
    ...plainParameters(...common, 'partial_images'),
    output_format: { type: 'text', values: ['png', 'jpeg', 'webp'] },
  },
  references: { max: 16, mask: true },
  sizes: { only: ['1024x1024', '1536x1024', '1024x1536', 'auto'] },
};
const qualities = ['auto', 'high', 'medium', 'low'];
/** These models always read images at high fidelity and reject `input_fidelity`. */
const second: ImageFacts = {
  ...gptImage,
  tokens: { image: 6_692, text: 0 },
  sizes: { ...gptImage.sizes, pixels: { step: 16, max: 3840 * 2160, longest: 3 } },
  cases: [moderated],
};
const laterParameters: ImageFacts['parameters'] = {
  ...gptImage.parameters,
  complexity: { type: 'text', values: ['low', 'medium', 'high'] },
};

const openaiImageFacts: FactsTable = {
  origin: { source: 'openai 7.59.0', read: '2026-11-28' },
  retired: {
    source: 'the vendor’s deprecations page',
    read: '2026-11-29',
    models: [
      [/^dall-e-[23]$/, '2026-05-12'],
      [/^gpt-image-1$/, '2026-10-23'],
      [/^gpt-image-1\.5$/, '2026-12-01'],
      [/^gpt-image-1-mini$/, '2026-12-01'],
      [/^chatgpt-image-latest$/, '2026-12-01'],
    ],
  },
  unoffered: [
    [
      /^(?:gif|svg|frame_count|frame_duration_ms)$/,
      'a preview for accounts that ask for access; it has no published price',
    ],
    [/^markup$/, 'an image that is drawn over the first one; none of our interfaces has a field for it'],
    [/^safety_identifier$/, 'the adapter sends `user` instead, which Azure accepts, too'],
  ],
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
    [/gpt-image-2\.5/, { ...second, parameters: laterParameters, qualities: ['max', 'xhigh', ...qualities] }],
    // The SDK lists no quality values for these models, so the vendor decides.
    [/gpt-image-2\./, { ...second, parameters: laterParameters }],
    [/gpt-image-2/, { ...second, qualities }],
    [
      /gpt-image-1-mini/,
      {
        ...gptImage,
        qualities,
        cases: [
          {
            when: { brings: ['references'] },
            facts: { parameters: { input_fidelity: { type: 'text', values: ['low'] } } },
          },
          moderated,
        ],
      },
    ],
    [/gpt-image/, { ...gptImage, qualities }],
  ],
  others,
};

/**
 * Variations are not supported. The vendor shut down its video API on 2026-09-24. The provider `gateway` serves other
 * gateways that offer that API.
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
    inputs:
      'text; images and a mask for edits. Azure OpenAI works as well: its `base_url` ends with `/openai?api-version=…`, and `upstream` is the deployment; Azure’s videos need the vendor file examples/vendors/azure-openai-video.yaml',
    unverified: [
      'which qualities gpt-image-2.6 accepts, and how many tokens each of them costs',
      'when Azure shuts models down: the table has OpenAI’s dates',
    ],
  },
  image: openaiImage,
  checkKey: listModels,
  bill: openaiBill,
};

/** A request with an image is an edit on either route, because generation accepts no images. */
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
    target: azureTarget(context, body.path),
    linkLifetimeSeconds: 3600,
  });
}

/**
 * On Azure, the base URL's query has the API version, each deployment has its own path, and the key has its own header.
 * Returns undefined for any other base URL. Source: the SDK's `AzureOpenAI`.
 */
function azureTarget({ baseUrl, model, credential }: ProviderContext, path: string) {
  const [address = '', query] = baseUrl.split('?');
  if (query === undefined) return undefined;
  const isWhole = address.includes('/deployments/') || address.endsWith('/v1');
  const deployment = isWhole ? '' : `/deployments/${encodeURIComponent(model)}`;
  return { url: `${address}${deployment}${path}?${query}`, headers: { 'api-key': credential.apiKey } };
}

/**
 * Listing the models is free and requires a valid key. Azure lists them per resource rather than per deployment. Two
 * responses prove nothing about the key. A key that is restricted to rendering also gets a 403, and a compatible server
 * may serve its list to anyone.
 */
async function listModels(context: ProviderContext): Promise<void> {
  const [address = '', query] = context.baseUrl.split('?');
  const { apiKey } = context.credential;
  const target =
    query === undefined
      ? { url: `${address}/models`, headers: bearer(context) }
      : { url: `${address.split('/deployments/', 1)[0]}/models?${query}`, headers: { 'api-key': apiKey } };
  const { signal } = context;
  const answer = await context.request({ method: 'GET', ...target, signal });
  if (answer.status === 403)
    throw new UpstreamError('rejected', 'The key is not allowed to list models.', {
      code: 'forbidden',
      status: 403,
    });
  if (!isSuccess(answer)) throw refusalError(answer, readConventionRefusal(answer.json), openaiFailures);
  if (isSuccess(await context.request({ method: 'GET', url: target.url, signal })))
    throw new UpstreamError(
      'rejected',
      'This upstream lists its models even without a key, so the list does not prove that the key works.',
      { code: 'public_list' },
    );
}

/**
 * Output tokens of one 1024 x 1024 image, by quality. Sources: the price list, which has a price per quality, and for
 * gpt-image-2.5, measurements published in 2026-09.
 */
const squareTokens: readonly [RegExp, Readonly<Record<string, number>>][] = [
  [/gpt-image-2\.5/, { low: 196, medium: 439, high: 1_756, xhigh: 3_122, max: 7_024 }],
  [/gpt-image-2\./, {}],
  [/gpt-image-2/, { low: 196, medium: 1_756, high: 7_024 }],
  [/gpt-image/, { low: 272, medium: 1_056, high: 4_160 }],
];
/** The most tokens that any model uses for a square image. Used if the quality or its cost is unknown. */
const squareTokensMax = 7_024;
const squarePixels = 1024 * 1024;
const tallPixels = 1024 * 1536;
/** Output tokens per partial image. Source: the guide on streaming images. */
const tokensOfPartialImage = 100;

/** Assumes the most expensive quality and the largest size if the request does not specify them. */
function estimateTokens(
  request: ImageRequest,
  { data_only: isData, sizes }: PlainFacts,
  model: string,
): bigint | undefined {
  if (isData !== true) return undefined;
  const byQuality = squareTokens.find(([pattern]) => pattern.test(model))?.[1] ?? {};
  const dearest = Math.max(...Object.values(byQuality), 0) || squareTokensMax;
  const tokens = byQuality[request.quality ?? ''] ?? dearest;
  const asked = parseSize(request.size);
  const pixels = asked === undefined ? (sizes?.pixels?.max ?? tallPixels) : asked.width * asked.height;
  const partials = tokensOfPartialImage * partialImagesOf(request.extra);
  return BigInt(request.n * (Math.ceil(tokens * Math.max(1, pixels / squarePixels)) + partials));
}

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
    ...(facts.data_only === true ? {} : { response_format: request.responseFormat ?? 'url' }),
  };
}
