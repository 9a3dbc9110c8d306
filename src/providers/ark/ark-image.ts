import { pixelCount } from '../../base/image-sizes.ts';
import { defined } from '../../base/defined.ts';
import type { ImageFacts, PlainFacts } from '../../models/model-facts.ts';
import { arkRetired } from './ark-retired.ts';
import type { FactsTable } from '../../models/facts-table.ts';
import { plainParameters, readImage } from '../shared/read-facts.ts';
import type { ImageRequest, JsonObject } from '../../models/request.ts';
import { readArkRefusal } from './ark-answer.ts';
import { arkFailures } from './ark-failures.ts';
import { callImageConvention } from '../shared/image-convention.ts';
import type { GeneratedImages, ProviderContext, SynchronousImageProvider } from '../provider.ts';

const pixelsMax = 16_777_216;
const longest = 16;

/** The fields for image groups are listed so that the error explains why they are rejected. */
const parametersOf = (...names: readonly string[]): NonNullable<ImageFacts['parameters']> => ({
  sequential_image_generation: { values: ['disabled'], read: true },
  ...plainParameters('watermark', ...names),
});
const guided = parametersOf('seed', 'guidance_scale');
const fields = { size: true };
const fourthGeneration: ImageFacts = {
  fields,
  references: { max: 14, mask: false },
  sizes: { only: ['1K', '2K', '4K'], pixels: { min: 921_600, max: pixelsMax, longest } },
  parameters: parametersOf('optimize_prompt_options'),
};
/**
 * This model has neither image groups nor streaming. It rejects the fields for both, even if a field only turns the
 * feature off.
 */
const fifthPro: ImageFacts = {
  fields,
  references: { max: 10, mask: false },
  sizes: { only: ['1K', '2K'], pixels: { min: 921_600, max: 2048 ** 2, step: 16, longest } },
  parameters: parametersOf('output_format', 'optimize_prompt', 'optimize_prompt_options'),
};
const fifthSizes: ImageFacts = {
  sizes: { only: ['1K', '1.5K', '2K'], pixels: { max: 2048 ** 2, longest } },
};
const largeSizes = (...only: string[]): ImageFacts => ({
  sizes: { only, pixels: { min: 3_686_400, max: pixelsMax, longest } },
});

const arkImageFacts: FactsTable = {
  origin: { source: 'the vendor’s parameter tables', read: '2026-11' },
  retired: arkRetired([/^seedream-3-0-/, '2026-05-13']),
  models: [
    [
      /seededit/i,
      {
        fields,
        references: { min: 1, max: 1, mask: false },
        sizes: { only: ['adaptive'] },
        parameters: guided,
      },
    ],
    [
      /seedream-3/i,
      {
        fields,
        references: { max: 0, mask: false },
        sizes: {
          only: ['1K', '1.5K', '2K', '3K', '4K'],
          pixels: { min: 512 ** 2, max: 2048 ** 2, longest },
        },
        parameters: guided,
      },
    ],
    [/seedream-4-0/i, fourthGeneration],
    [/seedream-4-5/i, { ...fourthGeneration, ...largeSizes('2K', '4K') }],
    [
      /seedream-5-5/i,
      {
        ...fifthPro,
        ...fifthSizes,
        parameters: { ...fifthPro.parameters, background: {} },
        // JPEG has no transparency.
        cases: [
          {
            when: { metadata: { output_format: 'jpeg' } },
            facts: { parameters: { background: { values: ['auto', 'opaque'] } } },
          },
        ],
      },
    ],
    [/seedream-5-0-pro/i, fifthPro],
    [/seedream-5-0-flash/i, { ...fifthPro, ...fifthSizes }],
    // The "Lite" models have no suffix in their names.
    [
      /seedream-5/i,
      {
        ...fourthGeneration,
        ...largeSizes('2K', '3K', '4K'),
        parameters: parametersOf('optimize_prompt_options', 'optimize_prompt', 'output_format', 'tools'),
      },
    ],
  ],
  others: {
    fields,
    references: { mask: false },
    parameters: {
      ...guided,
      ...plainParameters('output_format', 'optimize_prompt_options', 'tools'),
    },
  },
};

/**
 * Seedream and SeedEdit use the same path for generation and editing, without `n`. Streaming, image groups
 * (`sequential_image_generation`) and layers (`layer_decomposition`) are not supported. The model decides how many
 * images a group or its layers contain, so no hold could cover them.
 */
export const arkImage: SynchronousImageProvider = {
  imageForms: ['url', 'data'],
  facts: arkImageFacts,
  estimateTokens,
  generate,
};

const pixelsPerToken = 256;
/** The vendor bills width × height / 256 tokens per image. Without a size, the largest one is assumed. */
function estimateTokens({ size, n }: ImageRequest, { sizes }: PlainFacts): bigint {
  const pixels = pixelCount(size ?? '') ?? sizes?.pixels?.max ?? pixelsMax;
  return BigInt(n) * BigInt(Math.ceil(pixels / pixelsPerToken));
}

async function generate(request: ImageRequest, context: ProviderContext): Promise<GeneratedImages> {
  const body = {
    path: '/images/generations',
    fields: fieldsOf(request, context),
    multipart: false,
  } as const;
  return callImageConvention({ request, body }, context, {
    readRefusal: readArkRefusal,
    failures: arkFailures,
    linkLifetimeSeconds: 24 * 3600,
  });
}

function fieldsOf(request: ImageRequest, context: ProviderContext): JsonObject {
  const { passed, size } = readImage(request, arkImageFacts, context);
  return {
    ...passed,
    model: context.model,
    prompt: request.prompt,
    response_format: request.responseFormat ?? 'url',
    ...defined({ size }),
  };
}
