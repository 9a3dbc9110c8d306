import { parseBflCallback, verifyBflCallback } from './bfl-callback.ts';
import { bflImageModel } from './bfl-image-models.ts';
import type { BflImageModel } from './bfl-image-models.ts';
import { shapeFields } from './bfl-image-shape.ts';
import { bflJobStatus, submitBflJob } from './bfl-job.ts';
import { defined } from '../../domain/defined.ts';
import type { ImageRequest, JsonObject } from '../../domain/request.ts';
import { pick } from '../shared/image-convention.ts';
import { bareImage } from '../shared/image-input.ts';
import type { RequestIssue, SubmitContext, TaskProvider } from '../provider.ts';
import { issue } from '../shared/request-issue.ts';

/** FLUX images, one for each job. Not covered: fine-tuned models, outpainting, depth and edges. */
export function createBflImage(now: () => number): TaskProvider<ImageRequest> {
  return {
    linkLifeSeconds: shortestLinkSeconds,
    cancelUntil: 'never',
    check: (request, model) => checkImage(request, bflImageModel(model)),
    submit: async (request, context) => submitBflJob(buildImage(request, context), context),
    status: async (operation, context) => {
      const { linkLifeSeconds } = bflImageModel(context.model);
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

function checkImage(request: ImageRequest, model: BflImageModel): RequestIssue | undefined {
  const { images, mask, n, size, extra } = request;
  if (images.length > model.imagesMax) {
    const message =
      model.imagesMax === 0
        ? 'The model does not accept images.'
        : `The model accepts at most ${model.imagesMax} images.`;
    return issue('image', message);
  }
  const isFill = model.inputs === 'fill';
  if (isFill && images.length === 0) return issue('image', 'The model edits an image: send one.');
  if (mask !== undefined && !isFill) return issue('mask', 'The model does not accept a mask.');
  if (n > 1) return issue('n', 'The model renders one image at a time.');
  const { seed, output_format: format } = extra;
  if (seed !== undefined && !model.fields.includes('seed'))
    return issue('seed', 'The model does not accept a seed.');
  if (format !== undefined && !model.formats.some((known) => known === format))
    return issue('output_format', `output_format must be one of ${model.formats.join(', ')}.`);
  return size === undefined || shapeFields(size, model) !== undefined
    ? undefined
    : issue('size', `size must be ${model.sizes}.`);
}

function buildImage(request: ImageRequest, context: SubmitContext): JsonObject {
  const model = bflImageModel(context.model);
  const { callbackUrl, credential } = context;
  const calls = model.callsBack && callbackUrl !== undefined;
  return {
    ...pick(request.extra, model.fields),
    prompt: request.prompt,
    ...mediaFields(request, model),
    ...(request.size === undefined ? {} : shapeFields(request.size, model)),
    ...(calls ? defined({ webhook_url: callbackUrl, webhook_secret: credential.callbackSecret }) : {}),
  };
}

function mediaFields({ images, mask }: ImageRequest, { inputs }: BflImageModel): JsonObject {
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
    case 'none':
      return {};
    default:
      return inputs satisfies never;
  }
}
