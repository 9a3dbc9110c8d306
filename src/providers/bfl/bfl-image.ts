import { parseBflCallback, verifyBflCallback } from './bfl-callback.ts';
import { bflImageFacts } from './bfl-image-facts.ts';
import { bflJobStatus, submitBflJob } from './bfl-job.ts';
import { defined } from '../../base/defined.ts';
import type { ImageRequest, JsonObject } from '../../models/request.ts';
import type { ImageShape } from '../../base/image-sizes.ts';
import { readImage } from '../shared/read-facts.ts';
import { bareImage } from '../shared/image-input.ts';
import type { ImageTaskProvider, SubmitContext } from '../provider.ts';

/** Renders one FLUX image per job. Fine-tuned models, outpainting, depth and edges are not supported. */
export function createBflImage(now: () => number): ImageTaskProvider {
  return {
    linkLifeSeconds: shortestLinkSeconds,
    cancelUntil: 'never',
    facts: bflImageFacts,
    submit: async (request, context) => submitBflJob(buildImage(request, context), context),
    status: async (operation, context) => {
      const linkLifeSeconds = isThird(context.model) ? 3600 : shortestLinkSeconds;
      return bflJobStatus(operation, context, {
        kind: { linkLifeSeconds, facts: { images: 1 } },
        now: now(),
      });
    },
    parseCallback: parseBflCallback,
    verifyCallback: verifyBflCallback,
  };
}

const shortestLinkSeconds = 600;

function buildImage(request: ImageRequest, context: SubmitContext): JsonObject {
  const { model, callbackUrl, credential } = context;
  const { passed, shape } = readImage(request, bflImageFacts, context);
  const calls = !isThird(model) && callbackUrl !== undefined;
  return {
    ...passed,
    prompt: request.prompt,
    ...mediaFields(request, inputsOf(model)),
    ...shapeFields(shape),
    ...(calls ? defined({ webhook_url: callbackUrl, webhook_secret: credential.callbackSecret }) : {}),
  };
}

function isThird(model: string): boolean {
  return model.startsWith('flux-3-image');
}

type Inputs = 'numbered' | 'list' | 'prompt' | 'fill';

function inputsOf(model: string): Inputs {
  if (isThird(model)) return 'list';
  if (model.startsWith('flux-pro-1.0-fill')) return 'fill';
  return /^flux-(?:pro-1|dev)/.test(model) ? 'prompt' : 'numbered';
}

function shapeFields({ pixels, ratio, class: known, word }: ImageShape): JsonObject {
  if (pixels !== undefined) return { ...pixels };
  return defined({ aspect_ratio: ratio, resolution: known ?? (word === 'auto' ? undefined : word) });
}

function mediaFields({ images, mask }: ImageRequest, inputs: Inputs): JsonObject {
  const [first, ...others] = images.map(bareImage);
  if (first === undefined) return {};
  switch (inputs) {
    case 'numbered':
      return {
        input_image: first,
        ...Object.fromEntries(others.map((image, index) => [`input_image_${index + 2}`, image])),
      };
    case 'list':
      return { images: [first, ...others] };
    case 'prompt':
      return { image_prompt: first };
    case 'fill':
      return defined({ image: first, mask: mask === undefined ? undefined : bareImage(mask) });
    default:
      return inputs satisfies never;
  }
}
