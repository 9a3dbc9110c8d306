import { z } from 'zod';
import { callGoogle, readGoogleModel } from './google-call.ts';
import { googleFailures } from './google-failures.ts';
import { defined } from '../../base/defined.ts';
import { jobFailure, knownWords } from '../shared/failure-table.ts';
import type { OutgoingObject } from '../shared/file-data-url.ts';
import {
  optionalNumber,
  optionalText,
  readableItems,
  reportedNumber,
  unreadableError,
} from '../shared/http-outcome.ts';
import type { SettleFacts } from '../../money/settle-facts.ts';
import type { ImageFacts } from '../../models/model-facts.ts';
import { googleRetired } from './google-retired.ts';
import type { FactsTable } from '../../models/facts-table.ts';
import { readImage } from '../shared/read-facts.ts';
import { imageAnswerBytesMax, imageBase64 } from '../shared/image-input.ts';
import { tokenUsage } from '../shared/job-status.ts';
import { LargeText } from '../shared/large-json.ts';
import { UpstreamError } from '../provider.ts';
import type {
  GeneratedImages,
  HttpResponse,
  ProviderContext,
  SynchronousImageProvider,
} from '../provider.ts';
import type { ImageInput, ImageRequest } from '../../models/request.ts';

const ratios = ['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9'];
const others: ImageFacts = {
  fields: { size: true },
  // An input image uses no more tokens than a 4K image. The vendor does not limit thinking tokens.
  tokens: { image: 2_520, text: 8_192 },
  data_only: true,
  references: { mask: false },
  sizes: {
    only: ['auto'],
    classes: { '1K': 1024 ** 2, '2K': 2048 ** 2, '4K': 4096 ** 2 },
    rounded_up: true,
    ratios,
    tolerance: 0.04,
  },
  parameters: { seed: {}, aspect_ratio: { type: 'text', read: true } },
};

const nanoBanana: ImageFacts = {
  ...others,
  references: { max: 14, mask: false },
  parameters: { ...others.parameters, aspect_ratio: { values: ratios, read: true } },
};

const allRatios = [...ratios, '1:4', '4:1', '1:8', '8:1'];
const nanoBanana2: ImageFacts = {
  ...nanoBanana,
  sizes: { ...others.sizes, classes: { '512': 512 ** 2, ...others.sizes?.classes }, ratios: allRatios },
  parameters: { ...others.parameters, aspect_ratio: { values: allRatios, read: true } },
};

const googleImageFacts: FactsTable = {
  origin: { source: 'the vendor’s pages on its models', read: '2026-06' },
  retired: googleRetired(
    [/^gemini-3(?:\.1-flash|-pro)-image-preview/, '2026-06-25'],
    [/^gemini-2\.5-flash-image/, '2026-10-02'],
    [/^gemini-3\.1-flash-image$/, '2026-10-29'],
  ),
  unoffered: [[/^nano-banana-pro-preview$/, 'a preview of gemini-3-pro-image']],
  models: [
    [
      /^gemini-3\.1-flash-lite-image/,
      { ...nanoBanana2, sizes: { ...nanoBanana2.sizes, classes: { '1K': 1024 ** 2 } } },
    ],
    [/^gemini-3\.1-flash-image/, nanoBanana2],
    [/^gemini-(?:2\.5|3|nano-banana)/, nanoBanana],
  ],
  others,
};

/** Nano Banana images, one per call. Imagen is not supported. */
export const googleImage: SynchronousImageProvider = {
  imageForms: ['data'],
  facts: googleImageFacts,
  generate,
};

function imageBody(request: ImageRequest, context: ProviderContext): OutgoingObject {
  const { prompt, images, extra } = request;
  const { aspect_ratio: asked } = extra;
  const { passed, shape } = readImage(request, googleImageFacts, context);
  const { ratio, word, class: known } = shape;
  const imageConfig = defined({
    imageSize: known ?? (word === 'auto' ? undefined : word),
    aspectRatio: typeof asked === 'string' ? asked : ratio,
  });
  return {
    contents: [{ role: 'user', parts: [{ text: prompt }, ...images.map(inlinePart)] }],
    generationConfig: {
      ...passed,
      responseModalities: ['IMAGE'],
      ...(Object.keys(imageConfig).length === 0 ? {} : { imageConfig }),
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
      json: imageBody(request, context),
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
      candidatesTokenCount: reportedNumber,
      totalTokenCount: reportedNumber,
      thoughtsTokenCount: reportedNumber,
      cachedContentTokenCount: reportedNumber,
      promptTokensDetails: readableItems(z.object({ modality: optionalText, tokenCount: optionalNumber }))
        .optional()
        .catch(undefined),
    })
    .optional()
    .catch(undefined),
});
type Answer = z.infer<typeof answerSchema>;

function readImages(answer: HttpResponse): GeneratedImages {
  const read = answerSchema.safeParse(answer.json).data;
  if (read === undefined) throw unreadableError(answer, 'it is not a list of candidates');
  // Skip thoughts, because they may contain drafts.
  const parts = read.candidates
    .flatMap(({ content }) => content?.parts ?? [])
    .filter(({ thought }) => thought !== true);
  const images = parts.flatMap(({ inlineData }) =>
    inlineData === undefined ? [] : [{ base64: inlineData.data }],
  );
  if (images.length === 0) throw noImage(answer, read);
  const usage = usageOf(read.usageMetadata ?? {});
  return { images, facts: defined({ images: images.length, usage }), extra: {} };
}

/** Without details, the entire input is counted as text. */
function usageOf(usage: NonNullable<Answer['usageMetadata']>): SettleFacts['usage'] {
  const { candidatesTokenCount: made, totalTokenCount: total, promptTokenCount: input } = usage;
  const counts = (usage.promptTokensDetails ?? []).filter(({ modality }) => modality === 'IMAGE');
  const ofImages = counts.reduce((sum, { tokenCount = 0 }) => sum + tokenCount, 0);
  const ofText = input === undefined ? undefined : Math.max(0, input - ofImages);
  const cached = Math.min(usage.cachedContentTokenCount ?? 0, ofText ?? 0);
  return tokenUsage(made, total, {
    textTokens: usage.thoughtsTokenCount,
    inputTextTokens: ofText === undefined ? undefined : ofText - cached,
    inputImageTokens: input === undefined ? undefined : Math.min(ofImages, input),
    cachedTokens: usage.cachedContentTokenCount === undefined ? undefined : cached,
  });
}

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
  if (code === undefined) return unreadableError(answer, 'it contains no image');
  const text = candidates
    .flatMap(({ content }) => content?.parts ?? [])
    .find((part) => part.text !== undefined)?.text;
  const message = text ?? `The model generated no image: ${code}.`;
  const known = knownWords(googleFailures, { code, message }, 'no_image');
  return new UpstreamError('rejected', known.message, {
    code: known.code,
    status,
    failure: jobFailure(googleFailures, { code, message }),
  });
}
