import { z } from 'zod';
import type { ImageRequest, JsonObject } from '../../domain/request.ts';
import { callMinimax } from './minimax-call.ts';
import { defined } from '../../domain/defined.ts';
import { optionalNumeric, readableItems, signedUrlExpiry, unreadableError } from '../shared/http-outcome.ts';
import { pick } from '../shared/image-convention.ts';
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

/** image-01: one reference image, of a character. Pictures that fail are missing in the answer. */
export const minimaxImage: SynchronousImageProvider = {
  imageForms: ['url', 'data'],
  imagesPerCall: () => imagesMax,
  check,
  generate,
};

const imagesMax = 9;
const promptCharactersMax = 1500;
const sidePixelsMin = 512;
const sidePixelsMax = 2048;
const linkLifeSeconds = 24 * 3600;

function check({ prompt, images, mask, size }: ImageRequest): RequestIssue | undefined {
  if (prompt.length > promptCharactersMax)
    return issue('prompt', `The prompt must not exceed ${promptCharactersMax} characters.`);
  if (images.length > 1) return issue('image', 'The model accepts one image.');
  if (mask !== undefined) return issue('mask', 'The model does not accept a mask.');
  if (size === undefined || ratios.has(size)) return undefined;
  const { width = 0, height = 0 } = parseSize(size) ?? {};
  const fits = (side: number): boolean => side >= sidePixelsMin && side <= sidePixelsMax && side % 8 === 0;
  return fits(width) && fits(height)
    ? undefined
    : issue('size', 'size must be <width>x<height>, multiples of 8 from 512 to 2048, or a ratio.');
}

const ratios = new Set(['1:1', '16:9', '4:3', '3:2', '2:3', '3:4', '9:16', '21:9']);
export const minimaxImageFields: readonly string[] = ['seed', 'prompt_optimizer', 'aigc_watermark'];

function buildImage(request: ImageRequest, model: string): OutgoingObject {
  const { prompt, n, images, responseFormat } = request;
  const [image] = images.map(imageAddress);
  return {
    ...pick(request.extra, minimaxImageFields),
    model,
    prompt,
    n,
    ...sizeFields(request.size),
    ...(responseFormat === undefined ? {} : { response_format: responseFormat === 'url' ? 'url' : 'base64' }),
    ...(image === undefined ? {} : { subject_reference: [{ type: 'character', image_file: image }] }),
  };
}

function sizeFields(size: string | undefined): JsonObject {
  if (size === undefined) return {};
  const pixels = parseSize(size);
  return pixels === undefined ? { aspect_ratio: size } : { width: pixels.width, height: pixels.height };
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
  const answer = await callMinimax(
    {
      method: 'POST',
      path: '/v1/image_generation',
      json: buildImage(request, context.model),
      limits: { bodyBytesMax: imageAnswerBytesMax, largeStrings: true },
    },
    context,
  );
  const { data, metadata } = answerSchema.safeParse(answer.json).data ?? {};
  const at = Date.parse(answer.headers['date'] ?? '');
  const unsigned = Number.isNaN(at) ? undefined : at / 1000 + linkLifeSeconds;
  const images: GeneratedImage[] = [
    ...(data?.image_urls ?? []).map((url) => defined({ url, expiresAt: signedUrlExpiry(url) ?? unsigned })),
    ...(data?.image_base64 ?? []).map((base64) => ({ base64 })),
  ];
  if (images.length > 0) return { images, facts: { images: images.length }, extra: {} };
  if ((metadata?.failed_count ?? 0) === 0) throw unreadableError(answer, 'it holds no image');
  throw new UpstreamError('rejected', 'The upstream generated no image.', {
    code: 'no_image',
    status: answer.status,
    failure: { class: 'internal' },
  });
}
