import type { ImageRequest, JsonObject } from '../../domain/request.ts';
import { defined } from '../../domain/defined.ts';
import type { KlingCall } from './kling-call.ts';
import { parseKlingCallback } from './kling-callback.ts';
import { findListed, legacyStatus, submitKling } from './kling-video.ts';
import { pick } from '../shared/image-convention.ts';
import { bareImage, parseSize } from '../shared/image-input.ts';
import { isAboutAsLarge, ratioOfPixels } from '../shared/image-shape.ts';
import { verifyStandardWebhook } from '../shared/standard-webhooks.ts';
import type { RequestIssue, SubmitContext, TaskProvider } from '../provider.ts';
import { issue } from '../shared/request-issue.ts';

/**
 * Images of Kling: jobs of the legacy standard. Not covered: sets of images as one result, the subjects of
 * `multi-image2image`, and expansion.
 */
export function createKlingImage(call: KlingCall): TaskProvider<ImageRequest> {
  return {
    cancelUntil: 'never',
    check,
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

/** Models that take several images have a path of their own. */
function isOmni(model: string): boolean {
  return /-(?:omni|o1)$/.test(model);
}

function pathOf(model: string): string {
  return isOmni(model) ? '/v1/images/omni-image' : '/v1/images/generations';
}

const imagesMax = 9;
const omniInputsMax = 10;
const promptCharactersMax = 2500;

function check(request: ImageRequest, model: string): RequestIssue | undefined {
  const { images, mask, size, n, prompt, extra } = request;
  if (prompt.length > promptCharactersMax)
    return issue('prompt', `The prompt must not exceed ${promptCharactersMax} characters.`);
  const inputsMax = isOmni(model) ? omniInputsMax : 1;
  if (images.length > inputsMax) return issue('image', `The model accepts at most ${inputsMax} images.`);
  if (mask !== undefined) return issue('mask', 'The model does not accept a mask.');
  if (n > imagesMax) return issue('n', `n must be at most ${imagesMax}.`);
  if (images.length > 0 && extra['negative_prompt'] !== undefined)
    return issue('negative_prompt', 'The model does not accept a negative prompt beside an image.');
  return size === undefined || shapeOf(size, model) !== undefined
    ? undefined
    : issue('size', 'size must be 1K, 2K, or pixels of such an image in a ratio that the model renders.');
}

const ratios = ['16:9', '9:16', '1:1', '4:3', '3:4', '3:2', '2:3', '21:9'];

/** Upstream's classes, by the pixels of a square one. 4k is sold by the models with several images only. */
const classes = [
  { resolution: '1k', pixels: 1024 ** 2 },
  { resolution: '2k', pixels: 2048 ** 2 },
  { resolution: '4k', pixels: 4096 ** 2 },
];

/** Kling renders a class and a ratio; pixels are taken for the class that they are close to. */
function shapeOf(size: string, model: string): JsonObject | undefined {
  const sold = classes.filter(({ resolution }) => resolution !== '4k' || isOmni(model));
  const named = sold.find(({ resolution }) => resolution === size.toLowerCase());
  if (named !== undefined) return { resolution: named.resolution };
  const pixels = parseSize(size);
  if (pixels === undefined) return undefined;
  const ratio = ratioOfPixels(pixels, ratios);
  const found = sold.find((one) => isAboutAsLarge(pixels, one.pixels));
  return ratio === undefined || found === undefined
    ? undefined
    : { aspect_ratio: ratio, resolution: found.resolution };
}

const passedFields = [
  'negative_prompt',
  'image_reference',
  'image_fidelity',
  'human_fidelity',
  'element_list',
  'aspect_ratio',
];
export const klingImageFields: readonly string[] = [...passedFields, 'watermark'];

function buildImage(request: ImageRequest, context: SubmitContext): JsonObject {
  const images = request.images.map(bareImage);
  const [only] = images;
  const { watermark } = request.extra;
  const media = isOmni(context.model)
    ? defined({ image_list: only === undefined ? undefined : images.map((image) => ({ image })) })
    : defined({ image: only });
  return {
    ...pick(request.extra, passedFields),
    model_name: context.model,
    prompt: request.prompt,
    ...media,
    ...(request.size === undefined ? {} : shapeOf(request.size, context.model)),
    n: request.n,
    ...defined({
      watermark_info: typeof watermark === 'boolean' ? { enabled: watermark } : undefined,
      callback_url: context.callbackUrl,
    }),
    external_task_id: context.marker,
  };
}
