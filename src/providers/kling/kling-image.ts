import type { ImageFacts } from '../../models/model-facts.ts';
import type { FactsTable } from '../../models/facts-table.ts';
import type { ImageRequest, JsonObject } from '../../models/request.ts';
import { defined } from '../../base/defined.ts';
import type { KlingCall } from './kling-call.ts';
import { parseKlingCallback } from './kling-callback.ts';
import { findListed, legacyStatus, submitKling } from './kling-video.ts';
import { plainParameters, readImage } from '../shared/read-facts.ts';
import { bareImage } from '../shared/image-input.ts';
import { verifyStandardWebhook } from '../shared/standard-webhooks.ts';
import type { ImageTaskProvider, SubmitContext } from '../provider.ts';

/**
 * Kling images are jobs of the legacy standard. Image sets as one result, the subjects of `multi-image2image`, and
 * expansion are not supported.
 */
export function createKlingImage(call: KlingCall): ImageTaskProvider {
  return {
    cancelUntil: 'never',
    facts: klingImageFacts,
    submit: async (request, context) => {
      const json = buildImage(request, context);
      return submitKling(call, { path: pathOf(context.model), json }, context);
    },
    status: (operation, context) => legacyStatus(call, operation, context),
    find: ({ marker }, context) => findListed(call, { path: pathOf(context.model), marker }, context),
    parseCallback: parseKlingCallback,
    verifyCallback: verifyStandardWebhook,
  };
}

const severalImages = /-(?:omni|o1)$/;

function isOmni(model: string): boolean {
  return severalImages.test(model);
}

function pathOf(model: string): string {
  return isOmni(model) ? '/v1/images/omni-image' : '/v1/images/generations';
}

const ratios = ['16:9', '9:16', '1:1', '4:3', '3:4', '3:2', '2:3', '21:9'];

/** Pixels of a square image in each class. Only models that accept several images offer 4k. */
const classes = { '1k': 1024 ** 2, '2k': 2048 ** 2 };
const sizes = { classes, ratios };

const usual: ImageFacts = {
  fields: { size: true },
  images: { max: 9 },
  references: { max: 1, mask: false },
  prompt: { characters: 2500 },
  sizes,
  parameters: {
    ...plainParameters(
      'negative_prompt',
      'image_reference',
      'image_fidelity',
      'human_fidelity',
      'element_list',
      'aspect_ratio',
    ),
    watermark: { type: 'flag', read: true },
  },
  reserved: ['callback_url', 'external_task_id'],
  cases: [{ when: { brings: ['references'] }, facts: { parameters: { negative_prompt: { values: [] } } } }],
};

const klingImageFacts: FactsTable = {
  origin: { source: 'the vendor’s API documentation', read: '2026-09' },
  models: [
    [
      severalImages,
      {
        ...usual,
        references: { max: 10, mask: false },
        sizes: { classes: { ...classes, '4k': 4096 ** 2 }, ratios },
      },
    ],
    [/^kling-v[123]/, usual],
  ],
  others: {
    fields: usual.fields,
    references: usual.references,
    sizes,
    parameters: usual.parameters,
    reserved: usual.reserved,
  },
};

function buildImage(request: ImageRequest, context: SubmitContext): JsonObject {
  const images = request.images.map(bareImage);
  const [only] = images;
  const { watermark } = request.extra;
  const { passed, shape } = readImage(request, klingImageFacts, context);
  const media = isOmni(context.model)
    ? defined({ image_list: only === undefined ? undefined : images.map((image) => ({ image })) })
    : defined({ image: only });
  return {
    ...passed,
    model_name: context.model,
    prompt: request.prompt,
    ...media,
    ...defined({ aspect_ratio: shape.ratio, resolution: shape.class ?? shape.word }),
    n: request.n,
    ...defined({
      watermark_info: typeof watermark === 'boolean' ? { enabled: watermark } : undefined,
      callback_url: context.callbackUrl,
    }),
    external_task_id: context.marker,
  };
}
