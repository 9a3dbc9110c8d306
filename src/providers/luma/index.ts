import { z } from 'zod';
import { defined } from '../../base/defined.ts';
import { passedOn } from '../../models/model-facts.ts';
import type { ImageFacts, VideoFacts } from '../../models/model-facts.ts';
import type { FactsTable } from '../../models/facts-table.ts';
import type { ImageInput, ImageRequest, JsonObject, VideoRequest } from '../../models/request.ts';
import type { FailureTable } from '../shared/failure-table.ts';
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
import { plainParameters, readFacts, readImage } from '../shared/read-facts.ts';
import { bareImage, withoutDataHead } from '../shared/image-input.ts';
import { failedJob } from '../shared/job-status.ts';
import { issue } from '../shared/request-issue.ts';
import type {
  HttpRequestOptions,
  HttpResponse,
  ImageTaskProvider,
  Operation,
  OperationStatus,
  Provider,
  ProviderContext,
  RequestIssue,
  SubmitContext,
  Submitted,
  VideoProvider,
} from '../provider.ts';

/**
 * Codes of failed jobs; refusals have none. Source: the vendor's page on errors and the types of its SDK (`luma-agents`
 * 0.5.0), 2026-08.
 */
export const lumaFailures: FailureTable = [
  { code: /^content_moderated$/, class: 'moderation_input' },
  {
    code: /^(?:invalid_request|image_too_large|unsupported_format|corrupt_input)$/,
    class: 'invalid_input',
  },
  { code: /^budget_exhausted$/, class: 'quota' },
  { code: /^rate_limited$/, class: 'capacity' },
  { code: /^(?:generation_failed|output_not_found)$/, class: 'internal' },
  { words: /moderat|content (?:policy|guidelines)/i, outcome: 'rejected', class: 'moderation_input' },
  // A create that meets a path that is not there.
  { status: 404, outcome: 'unavailable', class: 'quota' },
];

type VideoKind = 'video' | 'video_edit' | 'video_reframe';

/** `video_task` is ours: a video is edited, or with `reframe` brought into another ratio. */
function kindOf({ videos, extra }: Pick<VideoRequest, 'videos' | 'extra'>): VideoKind {
  if (videos.length === 0) return 'video';
  return extra['video_task'] === 'reframe' ? 'video_reframe' : 'video_edit';
}

const schemes = ['https', 'http', 'data'];
const ratios = ['9:16', '3:4', '1:1', '4:3', '16:9', '21:9'];

/** An edit has the ratio and the length of its video, of at most 18 seconds; another ratio has its length, of at most 30. */
const usual: VideoFacts = {
  prompt: { wordless: [] },
  addresses: { images: schemes, videos: schemes },
  fields: { resolution: true, ratio: true, duration: true, safety_identifier: true },
  // `loop` alone has rules that are known; `edit`, `source_position` and others are passed on.
  parameters: { video_task: { values: [], read: true }, loop: { type: 'flag' } },
  // With what changes the price: `hdr`, `exr_export`.
  reserved: [
    'model', 'type', 'prompt', 'aspect_ratio', 'source', 'image_ref', 'user_id', 'resolution', 'duration', 'start_frame',
    'end_frame', 'keyframes', 'keyframe_indexes', 'hdr', 'exr_export',
  ], // prettier-ignore
  other_parameters: true,
  // The vendor does not document it: every reseller of it names the same.
  unsaid: { resolutions: ['720p'], seconds: { min: 5, max: 5 } },
  cases: [
    {
      when: { brings: ['videos'] },
      facts: {
        fields: { ratio: false, duration: false },
        parameters: { video_task: { values: ['edit', 'reframe'], read: true }, loop: { values: [] } },
        unsaid: { seconds: { min: 1, max: 18 } },
      },
    },
    {
      when: { brings: ['videos'], metadata: { video_task: 'reframe' } },
      facts: { fields: { ratio: true }, unsaid: { seconds: { min: 1, max: 30 } } },
    },
  ],
};

const lumaSdk = { source: 'luma-agents 0.5.0', read: '2026-11-28' } as const;

export const lumaFacts: FactsTable = {
  origin: lumaSdk,
  models: [
    [
      /^ray-3\.2/,
      {
        ...usual,
        media: { frames: 2, references: 0, videos: 1, audios: 0 },
        resolutions: ['360p', '540p', '720p', '1080p'],
        ratios,
        seconds: { only: [5, 10] },
        sound: 'never',
        fields: { ...usual.fields, generate_audio: true },
      },
    ],
  ],
  // There is no place for anything else.
  others: { ...usual, media: { references: 0, videos: 1, audios: 0 } },
};

function checkVideo(request: VideoRequest): RequestIssue | undefined {
  if (request.extra['loop'] === true && request.duration === 10)
    return issue('metadata.loop', 'A video of 10 seconds cannot loop. Leave loop out, or ask for 5 seconds.');
  return request.ratio === undefined && kindOf(request) === 'video_reframe'
    ? issue('ratio', 'A video is brought into the ratio that is named: name one.')
    : undefined;
}

/** An address, or its bytes. */
function reference(address: string): JsonObject {
  const mediaType = /^data:([^;,]+)/i.exec(address)?.[1];
  return mediaType === undefined
    ? { url: address }
    : { data: withoutDataHead(address), media_type: mediaType };
}

const framesPerSecond = 24;

/** At 10 seconds frames are keyframes at their places in the film; at 5 they have names. */
function frameFields({ firstFrame, lastFrame, duration }: VideoRequest): JsonObject {
  const [first, last] = [firstFrame, lastFrame].map((url) =>
    url === undefined ? undefined : reference(url),
  );
  if (first === undefined || duration !== 10) return defined({ start_frame: first, end_frame: last });
  return last === undefined
    ? { keyframes: [first], keyframe_indexes: [0] }
    : { keyframes: [first, last], keyframe_indexes: [0, duration * framesPerSecond] };
}

function buildVideo(request: VideoRequest, context: Pick<SubmitContext, 'model' | 'facts'>): JsonObject {
  const { model } = context;
  const { prompt, ratio, resolution, duration, safetyIdentifier, videos } = request;
  const type = kindOf(request);
  const [source] = videos;
  const video = {
    ...passedOn(request, readFacts(request, lumaFacts, context)),
    ...frameFields(request),
    ...defined({
      resolution: resolution?.toLowerCase(),
      duration: type === 'video' && typeof duration === 'number' ? `${duration}s` : undefined,
    }),
  };
  return {
    model,
    type,
    prompt,
    ...(Object.keys(video).length === 0 ? {} : { video }),
    ...(source === undefined ? {} : { source: { media_type: 'video/mp4', ...reference(source) } }),
    ...defined({ aspect_ratio: type === 'video_edit' ? undefined : ratio, user_id: safetyIdentifier }),
  };
}

const linkLifeSeconds = 3600;

/**
 * Videos of Ray 3.2. The operation is `{id}`. The vendor knows no cancel, no list, no callback, and returns nothing of
 * ours. Not covered: what its older API sells (Ray 2, Photon), extensions of its own results, files uploaded before.
 */
const video: VideoProvider = {
  cancelUntil: 'never',
  linkLifeSeconds,
  facts: lumaFacts,
  check: checkVideo,
  submit: (request, context) => submit(buildVideo(request, context), context),
  status: (operation, context) => status(operation, context),
};

const others: ImageFacts = {
  fields: { size: true },
  images: { max: 1 },
  references: { mask: false },
  // Every image has 2048 pixels, and a ratio.
  sizes: {
    only: ['2K'],
    about: 2048 ** 2,
    ratios: [...ratios, '3:1', '2:1', '3:2', '2:3', '1:2', '1:3'],
  },
  parameters: { ...plainParameters('output_format', 'style', 'web_search'), user: { sent_as: 'user_id' } },
};
const lumaImageFacts: FactsTable = {
  origin: lumaSdk,
  unoffered: [[/^photon-/, 'a model of the vendor’s older API']],
  models: [
    [
      /^uni-1/,
      {
        ...others,
        references: { max: 9, mask: false },
        parameters: {
          ...others.parameters,
          output_format: { values: ['png', 'jpeg'] },
          style: { values: ['auto', 'manga'] },
          web_search: { type: 'flag' },
        },
      },
    ],
  ],
  others,
};

/** An edit starts from its first image, and takes the others as references. */
function imageParts({ operation, images }: ImageRequest): {
  readonly type: 'image' | 'image_edit';
  readonly source?: ImageInput;
  readonly references: readonly ImageInput[];
} {
  const [source, ...others] = images;
  return operation === 'edit' && source !== undefined
    ? { type: 'image_edit', source, references: others }
    : { type: 'image', references: images };
}

function buildImage(request: ImageRequest, context: SubmitContext): JsonObject {
  const { model } = context;
  const { passed, shape } = readImage(request, lumaImageFacts, context);
  const { type, source, references } = imageParts(request);
  const item = (image: ImageInput) =>
    image.form === 'data'
      ? { data: bareImage(image), media_type: image.mediaType }
      : { url: bareImage(image) };
  return {
    ...passed,
    model,
    type,
    prompt: request.prompt,
    ...(source === undefined ? {} : { source: item(source) }),
    ...(references.length === 0 ? {} : { image_ref: references.map(item) }),
    ...defined({ aspect_ratio: shape.ratio }),
  };
}

/** Images of Uni-1, one for each job. */
const imageTask: ImageTaskProvider = {
  cancelUntil: 'never',
  linkLifeSeconds,
  facts: lumaImageFacts,
  submit: (request, context) => submit(buildImage(request, context), context),
  status: (operation, context) => status(operation, context, { images: 1 }),
};

const refusalSchema = z.object({ detail: z.string() });

/** One exchange that must succeed. Throws UpstreamError. */
async function call(
  options: Pick<HttpRequestOptions, 'method' | 'json'>,
  id: string,
  context: ProviderContext,
): Promise<HttpResponse> {
  const { request, baseUrl, signal } = context;
  const url = `${baseUrl}/generations${id}`;
  const answer = await request({ ...options, url, headers: bearer(context), signal });
  if (isSuccess(answer)) return answer;
  const message = refusalSchema.safeParse(answer.json).data?.detail;
  const refusal = message === undefined ? undefined : { code: '', message };
  if (options.method === 'GET' && answer.status === 404 && message !== undefined)
    throw unknownJob(404, { message });
  throw refusalError(answer, refusal, lumaFailures);
}

const createdSchema = z.object({ id: z.string().min(1).max(200) });

async function submit(json: JsonObject, context: SubmitContext): Promise<Submitted> {
  const answer = await call({ method: 'POST', json }, '', context);
  const id = createdSchema.safeParse(answer.json).data?.id;
  if (id === undefined) throw unreadableError(answer, 'it has no id');
  return { operation: { id }, traceId: id };
}

const jobSchema = z.object({
  state: optionalText,
  output: readableItems(z.object({ url: z.string().min(1) }))
    .nullish()
    .catch(undefined),
  failure_code: optionalText,
  failure_reason: optionalText,
});

/** Each answer signs its links anew. Nothing says what was rendered. */
async function status(
  { id }: Operation,
  context: ProviderContext,
  facts: { readonly images?: number } = {},
): Promise<OperationStatus> {
  const answer = await call({ method: 'GET' }, `/${encodeURIComponent(id)}`, context);
  const job = jobSchema.safeParse(answer.json).data;
  if (job?.state === undefined) throw unreadableError(answer, 'it is not a job');
  switch (job.state) {
    case 'queued':
      return { state: 'pending', phase: 'submitted' };
    case 'completed': {
      const items = (job.output ?? []).map(({ url }) => defined({ url, expiresAt: signedUrlExpiry(url) }));
      if (items.length === 0) throw unreadableError(answer, 'the job succeeded and has no file');
      return { state: 'succeeded', items, facts };
    }
    case 'failed':
      return failedJob(lumaFailures, { code: job.failure_code, message: job.failure_reason });
    default:
      // `processing`, and every word that is not known yet.
      return { state: 'pending', phase: 'running' };
  }
}

export const luma: Provider = {
  about: {
    vendor: 'Luma (Agents API)',
    inputs:
      'text; a first frame, or a first and a last one; a video to edit, or with `metadata.video_task: reframe` to bring into another ratio; images from up to 9 references, or from one image and 8 references. Nothing of ours comes back and there is no list, so that a lost job is left to a person',
    unverified: [
      'whether a job that failed is billed',
      'the resolution and length where a request names none: 720p and 5 seconds are held for',
      'how long a job is known',
    ],
  },
  video,
  imageTask,
};
