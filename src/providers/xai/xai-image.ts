import { z } from 'zod';
import type { ImageRequest, JsonObject } from '../../domain/request.ts';
import { callXai, costOf } from './xai-call.ts';
import { defined } from '../../domain/defined.ts';
import { optionalText, readableItems, unreadableError } from '../shared/http-outcome.ts';
import { pick } from '../shared/image-convention.ts';
import { isAboutAsLarge, ratioOfPixels } from '../shared/image-shape.ts';
import { LargeText } from '../shared/large-json.ts';
import type { OutgoingObject } from '../shared/file-data-url.ts';
import { imageAddress, imageAnswerBytesMax, parseSize } from '../shared/image-input.ts';
import { UpstreamError } from '../provider.ts';
import type {
  GeneratedImage,
  GeneratedImages,
  ProviderContext,
  RequestIssue,
  SynchronousImageProvider,
} from '../provider.ts';
import { issue } from '../shared/request-issue.ts';

export const xaiImageFields: readonly string[] = ['output_format', 'user'];

/** Images of Grok Imagine. An image of several that is moderated is missing; it may be billed. */
export const xaiImage: SynchronousImageProvider = {
  imageForms: ['url', 'data'],
  imagesPerCall: () => imagesMax,
  check,
  generate,
};

const imagesMax = 10;
const inputsMax = 5;
const qualities = ['low', 'medium'];

function check(
  { images, mask, size, quality, extra }: ImageRequest,
  model: string,
): RequestIssue | undefined {
  if (images.length > inputsMax) return issue('image', `The model accepts at most ${inputsMax} images.`);
  if (mask !== undefined) return issue('mask', 'The model does not accept a mask.');
  if (extra['seed'] !== undefined) return issue('seed', 'The model does not accept a seed.');
  if (quality !== undefined && !(model.includes('-2.0') && qualities.includes(quality)))
    return issue('quality', 'quality must be low or medium, of the model 2.0.');
  return size === undefined || shapeOf(size) !== undefined
    ? undefined
    : issue('size', 'size must be 1K, 2K, or pixels of such an image in a ratio that the model renders.');
}

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
const classes = [
  { resolution: '1k', pixels: 1024 ** 2 },
  { resolution: '2k', pixels: 2048 ** 2 },
];

/** The vendor takes a class and a ratio in place of pixels; undefined: no such image is rendered. */
function shapeOf(size: string): JsonObject | undefined {
  if (/^[12]k$/i.test(size)) return { resolution: size.toLowerCase() };
  const asked = parseSize(size);
  if (asked === undefined) return undefined;
  const aspect_ratio = ratioOfPixels(asked, ratios);
  const fitting = classes.find(({ pixels }) => isAboutAsLarge(asked, pixels));
  return aspect_ratio === undefined || fitting === undefined
    ? undefined
    : { aspect_ratio, resolution: fitting.resolution };
}

function buildImage(request: ImageRequest, model: string): OutgoingObject {
  const { prompt, n, size, quality, responseFormat, images } = request;
  const inputs = images.map((image) => ({ url: imageAddress(image), type: 'image_url' }));
  const [only] = inputs;
  return {
    ...pick(request.extra, xaiImageFields),
    model,
    prompt,
    n,
    ...(size === undefined ? {} : shapeOf(size)),
    ...defined({ quality, response_format: responseFormat }),
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
      json: buildImage(request, context.model),
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
    throw unreadableError(answer, 'it holds no image');
  throw new UpstreamError('rejected', 'The images did not pass moderation.', {
    code: 'respect_moderation',
    status: answer.status,
    failure: { class: 'moderation_output' },
  });
}
