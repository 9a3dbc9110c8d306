import { z } from 'zod';
import { callGoogle, readGoogleModel } from './google-call.ts';
import { googleFailures } from './google-failures.ts';
import { defined } from '../../domain/defined.ts';
import { jobFailure, knownWords } from '../shared/failure-table.ts';
import type { OutgoingObject } from '../shared/file-data-url.ts';
import { optionalNumber, optionalText, readableItems, unreadableError } from '../shared/http-outcome.ts';
import { imageAnswerBytesMax, imageBase64, parseSize } from '../shared/image-input.ts';
import { ratioOfPixels } from '../shared/image-shape.ts';
import { tokenUsage } from '../shared/job-status.ts';
import { LargeText } from '../shared/large-json.ts';
import { UpstreamError } from '../provider.ts';
import type {
  GeneratedImages,
  HttpResponse,
  ProviderContext,
  RequestIssue,
  SynchronousImageProvider,
} from '../provider.ts';
import type { ImageInput, ImageRequest, JsonObject } from '../../domain/request.ts';

/** Nano Banana: images that a model draws as its answer, one at a time. Not covered: Imagen. */
export const googleImage: SynchronousImageProvider = {
  imageForms: ['data'],
  imagesPerCall: () => 1,
  sendsDataOnly: () => true,
  check: checkImage,
  generate,
};

const ratios = ['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9'];
const sizes: readonly (readonly [size: string, side: number])[] = [
  ['1K', 1024],
  ['2K', 2048],
  ['4K', 4096],
];
const imagesMax = 14;

function checkImage(request: ImageRequest): RequestIssue | undefined {
  const { size, mask, images, extra } = request;
  if (mask !== undefined) return { param: 'mask', message: 'The model does not accept a mask.' };
  if (images.length > imagesMax)
    return { param: 'image', message: `The model accepts at most ${imagesMax} images.` };
  const ratio = extra['aspect_ratio'];
  if (ratio !== undefined && (typeof ratio !== 'string' || !ratios.includes(ratio)))
    return { param: 'aspect_ratio', message: `aspect_ratio must be one of ${ratios.join(', ')}.` };
  if (size !== undefined && size !== 'auto' && readSize(size) === undefined)
    return {
      param: 'size',
      message: 'size must be 1K, 2K, 4K or <width>x<height> in a ratio that the model has.',
    };
  return undefined;
}

interface Shape {
  readonly imageSize?: string;
  readonly aspectRatio?: string;
}

const ratioTolerance = 0.04;

/** Pixels become the nearest ratio, and the smallest size that is not smaller. */
function readSize(size: string): Shape | undefined {
  const named = sizes.find(([name]) => name === size.toUpperCase());
  if (named !== undefined) return { imageSize: named[0] };
  const pixels = parseSize(size);
  if (pixels === undefined || pixels.height === 0) return undefined;
  const { width, height } = pixels;
  const aspectRatio = ratioOfPixels(pixels, ratios, ratioTolerance);
  const imageSize = sizes.find(([, side]) => side * side * (1 + ratioTolerance) >= width * height)?.[0];
  return imageSize === undefined || aspectRatio === undefined ? undefined : { imageSize, aspectRatio };
}

function imageBody({ prompt, images, size, extra }: ImageRequest): OutgoingObject {
  const { seed, aspect_ratio: ratio } = extra;
  const shape = size === undefined ? {} : (readSize(size) ?? {});
  const imageConfig: Shape = typeof ratio === 'string' ? { ...shape, aspectRatio: ratio } : shape;
  return {
    contents: [{ role: 'user', parts: [{ text: prompt }, ...images.map(inlinePart)] }],
    generationConfig: {
      responseModalities: ['IMAGE'],
      ...(seed === undefined ? {} : { seed }),
      ...(Object.keys(imageConfig).length === 0 ? {} : { imageConfig: { ...imageConfig } }),
    },
  };
}

function inlinePart(image: ImageInput): OutgoingObject {
  if (image.form === 'url') throw new TypeError('The model accepts images as data only.');
  return { inlineData: { mimeType: image.mediaType, data: imageBase64(image) } };
}

async function generate(request: ImageRequest, context: ProviderContext): Promise<GeneratedImages> {
  const { name } = readGoogleModel(context.model);
  const answer = await callGoogle(
    {
      method: 'POST',
      url: `${context.baseUrl}/models/${encodeURIComponent(name)}:generateContent`,
      json: imageBody(request),
      bodyBytesMax: imageAnswerBytesMax,
      largeStrings: true,
    },
    context,
  );
  return readImages(answer);
}

const partSchema = z
  .object({
    thought: z.boolean().optional().catch(undefined),
    text: optionalText,
    inlineData: z
      .object({ mimeType: optionalText, data: z.union([z.instanceof(LargeText), z.string().min(1)]) })
      .optional()
      .catch(undefined),
  })
  .catch({ thought: undefined, text: undefined, inlineData: undefined });

const answerSchema = z.object({
  candidates: readableItems(
    z.object({
      content: z
        .object({ parts: z.array(partSchema).catch([]).default([]) })
        .optional()
        .catch(undefined),
      finishReason: optionalText,
    }),
  )
    .catch([])
    .default([]),
  promptFeedback: z.object({ blockReason: optionalText }).optional().catch(undefined),
  usageMetadata: z
    .object({
      promptTokenCount: optionalNumber,
      candidatesTokenCount: optionalNumber,
      totalTokenCount: optionalNumber,
    })
    .optional()
    .catch(undefined),
});
type Answer = z.infer<typeof answerSchema>;

function readImages(answer: HttpResponse): GeneratedImages {
  const read = answerSchema.safeParse(answer.json).data;
  if (read === undefined) throw unreadableError(answer, 'it is not a list of candidates');
  // Thoughts may hold drafts.
  const parts = read.candidates
    .flatMap(({ content }) => content?.parts ?? [])
    .filter(({ thought }) => thought !== true);
  const images = parts.flatMap(({ inlineData }) =>
    inlineData === undefined ? [] : [{ base64: inlineData.data }],
  );
  if (images.length === 0) throw noImage(answer, read);
  const { candidatesTokenCount: made, totalTokenCount: total } = read.usageMetadata ?? {};
  const usage = tokenUsage(made, total);
  return { images, facts: defined({ images: images.length, usage }), extra: usageExtra(read) };
}

function usageExtra({ usageMetadata }: Answer): JsonObject {
  if (usageMetadata === undefined) return {};
  const { promptTokenCount: input, candidatesTokenCount: output, totalTokenCount: total } = usageMetadata;
  return { usage: defined({ input_tokens: input, output_tokens: output, total_tokens: total }) };
}

/** Why nothing was drawn: what was asked for was refused, or what was drawn, or the model only talked. */
function noImage(answer: HttpResponse, { promptFeedback, candidates }: Answer): UpstreamError {
  const { status } = answer;
  const reason = promptFeedback?.blockReason;
  if (reason !== undefined) {
    const message = `The request was blocked: ${reason}.`;
    return new UpstreamError('rejected', message, {
      code: knownWords(googleFailures, { code: reason, message }, 'blocked').code,
      status,
      failure: { class: 'moderation_input' },
    });
  }
  const code = candidates.find(({ finishReason }) => finishReason !== undefined)?.finishReason;
  if (code === undefined) return unreadableError(answer, 'it holds no image');
  const text = candidates
    .flatMap(({ content }) => content?.parts ?? [])
    .find((part) => part.text !== undefined)?.text;
  const message = text ?? `The model made no image: ${code}.`;
  const known = knownWords(googleFailures, { code, message }, 'no_image');
  return new UpstreamError('rejected', known.message, {
    code: known.code,
    status,
    failure: jobFailure(googleFailures, { code, message }),
  });
}
