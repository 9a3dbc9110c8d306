import { z } from 'zod';
import type { ImageRequest, JsonObject, JsonValue } from '../../models/request.ts';
import { LargeText } from './large-json.ts';
import type { OutgoingJson } from './file-data-url.ts';
import { defined } from '../../base/defined.ts';
import type { SettleFacts } from '../../money/settle-facts.ts';
import {
  bearer,
  isSuccess,
  optionalNumber,
  reportedNumber,
  optionalText,
  refusalError,
  signedUrlExpiry,
  unreadableError,
} from './http-outcome.ts';
import { jobFailure, knownWords, type FailureTable, type Refusal } from './failure-table.ts';
import { createStreamedImages } from './streamed-images.ts';
import { imageAddress, imageAnswerBytesMax, imageFile } from './image-input.ts';
import { tokenUsage } from './job-status.ts';
import { UpstreamError } from '../provider.ts';
import type {
  GeneratedImage,
  GeneratedImages,
  HttpRequestOptions,
  HttpResponse,
  ImageContext,
} from '../provider.ts';

/**
 * Many upstreams share this image API: `POST /images/generations` and `/images/edits`, with `url` or `b64_json` in
 * `data[]`. Each adapter specifies how its upstream differs.
 */

export interface ImageBody {
  readonly path: '/images/generations' | '/images/edits';
  readonly fields: JsonObject;
  readonly multipart: boolean;
  readonly streamed?: boolean;
}

export interface ConventionRules {
  readonly failures: FailureTable;
  readonly readRefusal: (json: unknown) => Refusal | undefined;
  readonly readJob?: (json: unknown) => string | undefined;
  /** Defaults to the path below the base URL, with the key as a bearer token. */
  readonly target?: Pick<HttpRequestOptions, 'url' | 'headers'> | undefined;
  readonly linkLifetimeSeconds: number;
}

export async function callImageConvention(
  { request, body }: { readonly request: ImageRequest; readonly body: ImageBody },
  context: ImageContext,
  rules: ConventionRules,
): Promise<GeneratedImages> {
  const streamed = body.streamed === true ? createStreamedImages(context.onPartial) : undefined;
  const response = await context.request({
    method: 'POST',
    ...(rules.target ?? { url: context.baseUrl + body.path, headers: bearer(context) }),
    signal: context.signal,
    bodyBytesMax: imageAnswerBytesMax,
    largeStrings: true,
    ...defined({ onEvent: streamed?.onEvent }),
    ...(await encode(request, body)),
  });
  const answer = response.json === undefined ? { ...response, json: streamed?.answer() } : response;
  const refusal = rules.readRefusal(answer.json);
  // Some upstreams describe a failure in a response with status 200.
  if (!isSuccess(answer)) throw refusalError(answer, refusal, rules.failures);
  const job = rules.readJob?.(answer.json);
  return job === undefined ? readConventionImages(answer, rules) : { images: [], facts: {}, extra: {}, job };
}

async function encode(
  request: ImageRequest,
  { fields, multipart }: ImageBody,
): Promise<Pick<HttpRequestOptions, 'json' | 'form'>> {
  if (multipart) return { form: await encodeForm(request, fields) };
  const images = request.images.map(imageAddress);
  const mask = request.mask === undefined ? undefined : imageAddress(request.mask);
  const [only] = images;
  const image: OutgoingJson | undefined = images.length === 1 ? only : images;
  return {
    json: {
      ...fields,
      ...(image === undefined || images.length === 0 ? {} : { image }),
      ...(mask === undefined ? {} : { mask }),
    },
  };
}

async function encodeForm(request: ImageRequest, fields: JsonObject): Promise<FormData> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    form.append(name, typeof value === 'string' ? value : JSON.stringify(value));
  }
  const name = request.images.length === 1 ? 'image' : 'image[]';
  for (const image of request.images) {
    await appendImage(form, name, image);
  }
  if (request.mask !== undefined) await appendImage(form, 'mask', request.mask);
  return form;
}

/** URLs are sent as text. If the upstream accepts no URLs, its adapter leaves `url` out of `imageForms`. */
async function appendImage(
  form: FormData,
  name: string,
  image: ImageRequest['images'][number],
): Promise<void> {
  if (image.form === 'url') {
    form.append(name, image.url);
    return;
  }
  const { blob, name: fileName } = await imageFile(image);
  form.append(name, blob, fileName);
}

const answerSchema = z.object({ created: optionalNumber, data: z.array(z.unknown()) });
/** The text may be too long for a string: a response can contain 20 MB of base64. */
const optionalLongText = z.union([z.instanceof(LargeText), optionalText]);
const imageSchema = z.object({
  url: optionalLongText,
  b64_json: optionalLongText,
  size: optionalText,
  quality: optionalText,
  error: z.object({ code: optionalText, message: optionalText }).optional().catch(undefined),
});
type ImageEntry = z.infer<typeof imageSchema>;

const extraFields = ['usage', 'background', 'output_format', 'quality', 'size'] as const;
const extraSchema = z.record(z.string(), z.json());
const usageSchema = z.object({
  usage: z
    .object({
      output_tokens: reportedNumber,
      total_tokens: reportedNumber,
      input_tokens_details: z
        .object({ text_tokens: reportedNumber, image_tokens: reportedNumber, cached_tokens: reportedNumber })
        .optional()
        .catch(undefined),
      output_tokens_details: z.object({ text_tokens: reportedNumber }).optional().catch(undefined),
      input_images: reportedNumber,
    })
    .optional()
    .catch(undefined),
});

export function readConventionImages(answer: HttpResponse, rules: ConventionRules): GeneratedImages {
  const parsed = answerSchema.safeParse(answer.json).data;
  const entries = (parsed?.data ?? []).map((entry) => imageSchema.safeParse(entry).data);
  const images = entries.flatMap((entry) => resultItem(entry, rules, parsed?.created));
  if (images.length === 0)
    throw noImagesError(answer, rules.failures, [
      ...entries.map((entry) => entry?.error),
      rules.readRefusal(answer.json),
    ]);
  const { usage } = usageSchema.safeParse(answer.json).data ?? {};
  const extra = readExtra(answer.json);
  return {
    images,
    facts: defined({
      images: images.length,
      size: textOf(extra['size']),
      quality: textOf(extra['quality']),
      inputImages: usage?.input_images,
      usage: usageOf(usage),
    }),
    extra,
  };
}

type ConventionUsage = z.infer<typeof usageSchema>['usage'];

/** Cached tokens are deducted from the text tokens, never below zero. */
function usageOf(usage: ConventionUsage): SettleFacts['usage'] {
  const { output_tokens: output, total_tokens: total, input_tokens_details: input } = usage ?? {};
  const { text_tokens: text, image_tokens: inputImageTokens, cached_tokens: cached } = input ?? {};
  const textTokens = usage?.output_tokens_details?.text_tokens;
  const cachedTokens = cached === undefined || text === undefined ? cached : Math.min(cached, text);
  return tokenUsage(output === undefined ? undefined : Math.max(0, output - (textTokens ?? 0)), total, {
    textTokens,
    inputTextTokens: text === undefined ? undefined : text - (cachedTokens ?? 0),
    inputImageTokens,
    cachedTokens,
  });
}

function resultItem(
  entry: ImageEntry | undefined,
  { linkLifetimeSeconds }: ConventionRules,
  created: number | undefined,
): GeneratedImage[] {
  const { url, b64_json: data, size, quality } = entry ?? {};
  const about = defined({ size, quality });
  if (data !== undefined) return [{ base64: withoutDataPrefix(data), ...about }];
  if (url === undefined) return [];
  if (url instanceof LargeText || url.startsWith('data:')) {
    return [{ base64: withoutDataPrefix(url), ...about }];
  }
  const unsigned = created === undefined ? undefined : created + linkLifetimeSeconds;
  return [defined({ url, expiresAt: signedUrlExpiry(url) ?? unsigned, ...about })];
}

const dataPrefixBytesMax = 256;

/** Some upstreams send a data URL instead of base64. The data is not copied. */
function withoutDataPrefix(text: string | LargeText): string | LargeText {
  const head = text instanceof LargeText ? text.head(dataPrefixBytesMax) : text.slice(0, dataPrefixBytesMax);
  if (!head.startsWith('data:')) return text;
  const start = head.indexOf(',') + 1;
  return text instanceof LargeText ? text.from(start) : text.slice(start);
}

/** If a response has no image, the first reason that it gives becomes the failure of the whole request. */
function noImagesError(
  answer: HttpResponse,
  failures: FailureTable,
  reasons: readonly ({ code?: string | undefined; message?: string | undefined } | undefined)[],
): UpstreamError {
  const said = reasons.find((reason) => reason !== undefined);
  if (said === undefined) return unreadableError(answer, 'it contains no image');
  const refusal = { code: said.code ?? '', message: said.message ?? 'The upstream generated no image.' };
  const failure = jobFailure(failures, refusal);
  const { code, message } = knownWords(failures, refusal, 'no_image');
  return new UpstreamError('rejected', message, { code, status: answer.status, failure });
}

const anyObject = z.looseObject({});

function readExtra(json: unknown): JsonObject {
  const fields = anyObject.safeParse(json).data ?? {};
  const known = Object.fromEntries(extraFields.map((name) => [name, fields[name] ?? undefined]));
  return extraSchema.safeParse(defined(known)).data ?? {};
}

function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

const refusalSchema = z.object({
  error: z.object({
    code: optionalText,
    type: optionalText,
    message: optionalText,
    param: optionalText,
  }),
});

export function readConventionRefusal(json: unknown): Refusal | undefined {
  const error = refusalSchema.safeParse(json).data?.error;
  if (error === undefined) return undefined;
  const code = error.code ?? error.type;
  return code === undefined && error.message === undefined
    ? undefined
    : defined({ code: code ?? '', message: error.message ?? '', field: error.param });
}
