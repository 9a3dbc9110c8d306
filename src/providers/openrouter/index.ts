import { createHmac } from 'node:crypto';
import { z } from 'zod';
import { defined } from '../../base/defined.ts';
import { passedOn } from '../../models/facts-of-request.ts';
import type { FactsTable } from '../../models/facts-table.ts';
import type { JsonObject, VideoRequest } from '../../models/request.ts';
import type { FailureTable, Refusal } from '../shared/failure-table.ts';
import { readFacts } from '../shared/read-facts.ts';
import {
  bearer,
  isSuccess,
  optionalText,
  readableItems,
  refusalError,
  signedUrlExpiry,
  unknownJob,
  unreadableError,
} from '../shared/http-outcome.ts';
import { cancelledJob, expiredJob, failedJob } from '../shared/job-status.ts';
import { issue } from '../shared/request-issue.ts';
import { isSameSecret } from '../shared/signature.ts';
import { optionalAmount, vendorCost } from '../shared/vendor-cost.ts';
import type {
  CallbackContext,
  HttpRequestOptions,
  HttpResponse,
  Operation,
  OperationStatus,
  Provider,
  ProviderContext,
  RequestIssue,
  SubmitContext,
  Submitted,
  UpstreamCallback,
  VideoProvider,
} from '../provider.ts';

const moderation = /content policy|sensitive|safety|moderat|flagged|prohibited/i;
const moderatedOutput =
  /output.*(?:content policy|safety|moderat)|(?:content policy|safety|moderat).*output/i;

/**
 * OpenRouter has no codes of its own, so failures are classified by status and by the message of the vendor behind it.
 * Source: the vendor's pages and its SDK's types (`@openrouter/sdk` 1.3.19), 2026-11.
 */
export const openrouterFailures: FailureTable = [
  { code: /^flagged_input$/, outcome: 'rejected', class: 'moderation_input' },
  { words: moderation, status: 400, outcome: 'rejected', class: 'moderation_input' },
  { words: moderation, status: 403, outcome: 'rejected', class: 'moderation_input' },
  // No provider serves the model, or the account permits none of those that do.
  { status: 404, outcome: 'unavailable', class: 'quota' },
  { words: moderatedOutput, class: 'moderation_output' },
  { words: moderation, class: 'moderation_input' },
];

/**
 * All models share one row. The vendor's catalogue changes daily, so the vendor itself rejects what a model cannot
 * render. Fields for the vendor behind OpenRouter are reserved too. OpenRouter would silently ignore references next to
 * frames.
 */
const openrouterFacts: FactsTable = {
  origin: { source: 'the vendor’s pages, @openrouter/sdk 1.3.19', read: '2026-11' },
  models: [],
  others: {
    media: { frames: 2 },
    addresses: { images: ['https', 'http', 'data'] },
    // The vendor has no value that lets the model choose the length or ratio.
    seconds: { min: 1, max: 3600 },
    fields: {
      resolution: true,
      ratio: true,
      duration: true,
      generate_audio: true,
      seed: true,
      safety_identifier: true,
    },
    // A video is always used as a reference.
    parameters: { video_task: { values: ['reference'], read: true } },
    reserved: [
      'model', 'prompt', 'duration', 'resolution', 'aspect_ratio', 'size', 'frame_images', 'input_references',
      'generate_audio', 'seed', 'user', 'callback_url', 'provider', 'previous_job_id', 'upscale_factor', 'creativity',
      'trace', 'session_id',
    ], // prettier-ignore
    other_parameters: true,
  },
};

function check({ ratio, firstFrame, references }: VideoRequest): RequestIssue | undefined {
  const hasImage = firstFrame !== undefined || references.length > 0;
  return ratio === 'adaptive' && !hasImage
    ? issue('ratio', 'The model can choose the ratio only if there is an image. Specify a ratio.')
    : undefined;
}

function build(request: VideoRequest, context: SubmitContext): JsonObject {
  const { model, callbackUrl } = context;
  const { prompt, duration, resolution, ratio, references, videos, audios } = request;
  const frames = [
    { url: request.firstFrame, frame_type: 'first_frame' },
    { url: request.lastFrame, frame_type: 'last_frame' },
  ].flatMap(({ url, frame_type }) => (url === undefined ? [] : [{ ...part('image_url', url), frame_type }]));
  const inputs = [
    ...references.map((url) => part('image_url', url)),
    ...videos.map((url) => part('video_url', url)),
    ...audios.map((url) => part('audio_url', url)),
  ];
  return {
    ...passedOn(request, readFacts(request, openrouterFacts, context)),
    model,
    ...defined({
      prompt: prompt === '' ? undefined : prompt,
      duration: duration === 'auto' ? undefined : duration,
      // The vendor writes line counts in lower case (`720p`) and resolution classes in upper case (`4K`).
      resolution: resolution?.toLowerCase().replace(/k$/, 'K'),
      aspect_ratio: ratio === 'adaptive' ? undefined : ratio,
      frame_images: frames.length === 0 ? undefined : frames,
      input_references: inputs.length === 0 ? undefined : inputs,
      generate_audio: request.generateAudio,
      seed: request.seed,
      user: request.safetyIdentifier,
      callback_url: callbackUrl,
    }),
  };
}

function part(type: string, url: string): JsonObject {
  return { type, [type]: { url } };
}

const refusalSchema = z.object({
  error: z.object({
    message: z.string(),
    metadata: z
      .object({ reasons: z.array(z.unknown()).optional(), flagged_input: optionalText })
      .nullish()
      .catch(undefined),
  }),
});

/**
 * Reads `{"error":{"code":<status>,"message","metadata"?}}`. If the request was moderated, `metadata` contains the
 * reasons.
 */
function readRefusal(json: unknown): Refusal | undefined {
  const error = refusalSchema.safeParse(json).data?.error;
  if (error === undefined) return undefined;
  const { message, metadata } = error;
  const isFlagged = metadata?.reasons !== undefined || metadata?.flagged_input !== undefined;
  return { code: isFlagged ? 'flagged_input' : '', message };
}

async function call(
  { path, ...options }: Pick<HttpRequestOptions, 'method' | 'json'> & { readonly path: string },
  context: ProviderContext,
): Promise<HttpResponse> {
  const { request, baseUrl, signal } = context;
  const answer = await request({ ...options, url: baseUrl + path, headers: bearer(context), signal });
  if (isSuccess(answer)) return answer;
  const refusal = readRefusal(answer.json);
  if (options.method === 'GET' && answer.status === 404 && refusal !== undefined)
    throw unknownJob(404, { message: refusal.message });
  throw refusalError(answer, refusal, openrouterFailures);
}

const createdSchema = z.object({ id: z.string().min(1).max(200) });

async function submit(request: VideoRequest, context: SubmitContext): Promise<Submitted> {
  const answer = await call({ method: 'POST', path: '/videos', json: build(request, context) }, context);
  const id = createdSchema.safeParse(answer.json).data?.id;
  if (id === undefined) throw unreadableError(answer, 'it has no id');
  return { operation: { id }, traceId: id };
}

const links = readableItems(z.string().min(1)).nullish().catch(undefined);
const jobSchema = z.object({
  status: optionalText,
  generation_id: optionalText,
  urls: links,
  unsigned_urls: links,
  usage: z
    .object({ cost: optionalAmount, is_byok: z.boolean().optional().catch(undefined) })
    .nullish()
    .catch(undefined),
  error: optionalText,
});

/** Derives the URL from the id and ignores the polling URL in the response. */
async function status({ id }: Operation, context: ProviderContext): Promise<OperationStatus> {
  const answer = await call({ method: 'GET', path: `/videos/${encodeURIComponent(id)}` }, context);
  const job = jobSchema.safeParse(answer.json).data;
  if (job?.status === undefined) throw unreadableError(answer, 'it is not a job');
  const { usage, urls, unsigned_urls: unsigned } = job;
  const cost = usage?.is_byok === true ? undefined : vendorCost(usage?.cost, 'USD');
  const facts = { cost, traceId: job.generation_id };
  switch (job.status) {
    case 'pending':
      return { state: 'pending', phase: 'submitted' };
    case 'completed': {
      const found =
        [urls, unsigned].find((list) => list !== undefined && list !== null && list.length > 0) ?? [];
      const items = found.map((url) => defined({ url, expiresAt: signedUrlExpiry(url) }));
      if (items.length === 0) throw unreadableError(answer, 'the job succeeded but has no file');
      return defined({ state: 'succeeded' as const, items, facts: {}, ...facts });
    }
    case 'failed':
      return failedJob(openrouterFailures, { message: job.error }, facts);
    case 'cancelled':
      return cancelledJob(facts);
    case 'expired':
      return expiredJob(facts);
    default:
      // `in_progress` and unknown states are treated as running.
      return { state: 'pending', phase: 'running' };
  }
}

const newsSchema = z.object({ type: z.string().regex(/^video\.generation\./) });
const signatureAgeMaxSeconds = 300;

/**
 * If the workspace has a secret, a header contains the HMAC-SHA256 of `<t>,<body>` in hex, as `t=<Unix
 * seconds>,v1=<hex>`.
 */
async function verifyCallback(
  { header, raw }: UpstreamCallback,
  { credential, now }: Pick<CallbackContext, 'credential' | 'now'>,
): Promise<boolean> {
  const { callbackSecret } = credential;
  if (callbackSecret === undefined) return true;
  const [, time, given] =
    /^t=(\d{1,12}),v1=([0-9a-f]{64})$/i.exec(header('x-openrouter-signature') ?? '') ?? [];
  if (time === undefined || given === undefined) return false;
  if (Math.abs(now / 1000 - Number(time)) > signatureAgeMaxSeconds) return false;
  const expected = createHmac('sha256', callbackSecret).update(`${time},`).update(raw).digest('hex');
  return isSameSecret(given.toLowerCase(), expected);
}

/**
 * Serves every model that OpenRouter resells. The operation is `{id}`. The vendor has no cancel or list call, and
 * returns no marker. Images, continuing a job, upscaling, and the `provider` field, which would let callers set fields
 * that the gateway controls, are not supported.
 */
const video: VideoProvider = {
  cancelUntil: 'never',
  // The vendor serves the file itself, and requires its key.
  linkHeaders: (url, context) =>
    new URL(url).origin === new URL(context.baseUrl).origin ? bearer(context) : {},
  facts: openrouterFacts,
  check,
  submit,
  status,
  parseCallback: ({ body }) => ({ ended: newsSchema.safeParse(body).success }),
  verifyCallback,
};

export const openrouter: Provider = {
  about: {
    vendor: 'OpenRouter',
    inputs:
      'text; a first frame, or a first and a last frame; reference images and, if the model accepts them, reference videos and audio. The vendor decides what each model can render',
    costUnit: 'USD',
    unverified: [
      'whether a failed job is billed',
      'how long the file is kept ("a short period"), and links without the key',
      'the cost if OpenRouter uses your own key for the vendor behind it: none is recorded',
    ],
  },
  video,
};
