import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { areaOf, bearerToken, dialect, empty, inSeconds, json, linesOf, link, media } from '../engine.ts';
import { refusals, sizeOf, taken, word } from '../engine.ts';
import type { Call, Desk, Handler, Job, Rendered, Reply, Submission } from '../engine.ts';

/** Source: the vendor's SDK. */
const linkSeconds = 86_400;
const ticksPerThousandth = 10_000_000;
/** Thousandths of a dollar per second of video, per image, and per input image of an edit. */
const rates: Readonly<Record<string, number>> = { '480p': 50, '720p': 70, '1080p': 250 };
const imageRate = 60;
const inputImageRate = 10;
/** The longest input that a model reads, in seconds. No more than this is billed. */
const inputSecondsMax = { edits: 8.7, extensions: 15 };

/** The code is a sentence that several errors share, so only the message is specific. */
const refuse = refusals(({ status, code, message }) => json(status, { code, error: message }));
const invalid = (message: string) => refuse(400, 'Client specified an invalid argument', message);
const permission = 'The caller does not have permission to execute the specified operation';
const notFound = 'Some requested entity was not found';
const exhausted = 'Some resource has been exhausted';
/** A result that is rejected after it was rendered is billed. Source: recorded responses. */
const rejected = (what: 'image' | 'video', charge: number): Reply => {
  const error = `Generated ${what} rejected by content moderation.`;
  return json(400, { code: 'imagine:content-moderated', error, usage: ticksOf(charge) });
};
const internal = refuse(500, 'Internal error', 'An internal error occurred.');

const still = z.strictObject({ url: media });
const sound = z.strictObject({ url: media });
const voice = z.strictObject({ voice_id: z.string().min(1) });
const common = { ...taken({ any: 'storage_options', text: 'user' }), model: z.string(), prompt: z.string() };
const video = z.strictObject({ url: link });
const bodies = {
  generations: z.strictObject({
    ...common,
    ...taken({ flag: 'generate_audio' }),
    duration: z.int().default(8),
    aspect_ratio: z.string().default('16:9'),
    resolution: word('480p 720p 1080p').default('480p'),
    image: still.optional(),
    last_frame: still.optional(),
    keyframes: z.array(z.strictObject({ image: still, timestamp_s: z.number() })).optional(),
    reference_images: z.array(still).min(1).optional(),
    reference_audios: z
      .array(z.union([sound, voice]))
      .min(1)
      .max(3)
      .optional(),
  }),
  edits: z.strictObject({ ...common, video }),
  extensions: z.strictObject({ ...common, video, duration: z.int().default(6) }),
};

type Detail = Rendered & { readonly charge: number };

export const xai = dialect<Detail>({
  name: 'xai',
  prefix: '/xai/v1',
  expiresAfterMs: 86_400_000,
  // A missing key gets a 401. A wrong key counts as an invalid argument.
  keyOf(request) {
    const key = bearerToken(request);
    if (key === undefined) throw refuse(401, permission, 'No API key was provided.');
    return key;
  },
  noSuchRoute: ({ method, path }) => refuse(404, notFound, `No such path: ${method} ${path}`),
  mistake: ({ path, reason }) =>
    invalid(path === '' ? `Argument not supported on this model: ${reason}` : `${path}: ${reason}`),
  problems: {
    unauthorized: invalid('Incorrect API key provided: xa***ey.'),
    forbidden: refuse(403, permission, 'The team has no access to this model.'),
    'not-found': refuse(404, notFound, 'The request was not found.'),
    'rate-limited': refuse(429, exhausted, 'Too many requests.'),
    'quota-exhausted': refuse(402, exhausted, 'All credits are used up.'),
    moderated: invalid('Content violates usage guidelines.'),
    internal,
    unavailable: refuse(503, 'The service is currently unavailable', 'The model is at capacity.'),
  },
  routes: (desk) => ({
    'POST /videos/generations': submit(desk, bodies.generations, (body, { model }) => {
      refuseForeign(body, model);
      const { duration: seconds, resolution, aspect_ratio } = body;
      const charge = (rates[resolution] ?? 0) * seconds;
      return { ...sizeOf(linesOf(resolution), aspect_ratio), seconds, charge };
    }),
    'POST /videos/edits': submit(desk, bodies.edits, (_, { faults }) => {
      return ofVideo(faults.number('input-seconds'), 'edits', 0);
    }),
    'POST /videos/extensions': submit(desk, bodies.extensions, ({ duration }, { faults }) => {
      return ofVideo(faults.number('input-seconds'), 'extensions', duration);
    }),
    'GET /videos/:id': (call) => desk.about('poll', call, present),
    'POST /images/generations': (call) => paint(desk, call, 'generations'),
    'POST /images/edits': (call) => paint(desk, call, 'edits'),
  }),
});

/** Only version 1.5 supports these fields. Its lite variant does not support references. */
const fieldsOfLater = ['last_frame', 'keyframes', 'reference_audios'] as const;

function refuseForeign(body: z.infer<typeof bodies.generations>, model: string): void {
  const isLater = /^grok-imagine-video-1\.5(?!.*-lite$)/.test(model);
  const foreign = isLater
    ? []
    : model.endsWith('-lite')
      ? [...fieldsOfLater, 'reference_images' as const]
      : fieldsOfLater;
  const field = foreign.find((name) => body[name] !== undefined);
  if (field !== undefined) throw invalid(`Argument not supported on this model: ${field}`);
  const isReferenced = body.reference_images !== undefined || body.reference_audios !== undefined;
  if (body.resolution === '1080p' && (isReferenced || model === 'grok-imagine-video'))
    throw invalid('Argument not supported on this model: resolution');
}

function submit<Body extends { model: string; prompt: string }>(
  desk: Desk<Detail>,
  schema: z.ZodType<Body>,
  settle: (body: Body, submission: Submission) => Detail,
): Handler {
  const order = (body: Body, submission: Submission) => {
    if (!submission.model.startsWith('grok-imagine-video'))
      throw invalid(`Model not found: ${submission.model}`);
    return { id: randomUUID(), detail: settle(body, submission) };
  };
  return desk.creates(schema, order, ({ id }) => json(200, { request_id: id }));
}

/** An edit is as long as its input. For an extension, only the added part is charged. Both have at most 720p. */
function ofVideo(input = 5, operation: keyof typeof inputSecondsMax, added: number): Detail {
  if (input > inputSecondsMax[operation]) throw invalid('The video is too long.');
  const charge = (rates['720p'] ?? 0) * (added === 0 ? input : added);
  return { ...sizeOf(720, '16:9'), seconds: input + added, charge };
}

/**
 * Responds with 202 until the job has finished. With `docs-shape`, that response is empty, and the final response has
 * no status word.
 */
function present(job: Job<Detail>): Reply {
  const { task, detail, phase, faults, now } = job;
  const isOld = faults.has('docs-shape');
  if (!job.isOver) {
    if (isOld) return empty(202);
    const share = (now - task.createdAt) / (task.queueMs + task.renderMs);
    const status = phase === 'unknown' ? 'postprocessing' : 'pending';
    return json(202, { status, progress: Math.min(99, Math.floor(100 * share)) });
  }
  if (phase === 'succeeded') {
    const [url] = job.links({ lifetimeSeconds: linkSeconds });
    const made = { url, duration: detail.seconds, respect_moderation: true };
    return json(200, {
      ...(isOld ? {} : { status: 'done' }),
      ...ended(job, made, job.billed(detail.charge)),
    });
  }
  if (phase !== 'failed') return json(200, { status: 'expired', progress: 0 });
  // According to the vendor's documentation, a rejected job is `done` but has no video.
  const none = { url: '', duration: 0, respect_moderation: false };
  if (faults.has('moderation-in-task'))
    return isOld
      ? json(200, { status: 'done', ...ended(job, none, 0) })
      : rejected('video', job.billed(detail.charge));
  const error = { code: 'internal_error', message: internal.message };
  return json(200, { status: 'failed', progress: 0, error });
}

function ended(job: Job<Detail>, made: object, charge: number): object {
  return { progress: 100, model: job.model, video: made, usage: job.reported(ticksOf(charge)) };
}

function ticksOf(thousandths: number) {
  return { cost_in_usd_ticks: Math.round(thousandths * ticksPerThousandth) };
}

const source = z.strictObject({ url: media, type: z.literal('image_url') });
const imageFields = {
  ...taken({ text: 'output_format user', flag: 'sync_mode' }),
  quality: word('low medium high').optional(),
  model: z.string(),
  prompt: z.string().min(1),
  n: z.int().min(1).default(1),
  aspect_ratio: z.string().default('auto'),
  resolution: word('1k 2k').default('1k'),
  response_format: z.enum(['url', 'b64_json']).default('url'),
};
const none = z.undefined().optional();
const imageBodies = {
  generations: z.strictObject({ ...imageFields, image: none, images: none }),
  edits: z.strictObject({
    ...imageFields,
    image: source.optional(),
    images: z.array(source).min(1).optional(),
  }),
};

function paint(desk: Desk<Detail>, { request }: Call, operation: keyof typeof imageBodies): Promise<Reply> {
  const body = desk.read<z.infer<typeof imageBodies.edits>>(imageBodies[operation], request);
  const { image, images, n, resolution, aspect_ratio, response_format } = body;
  if (operation === 'edits' && (image === undefined) === (images === undefined))
    throw invalid('Exactly one of image and images is required.');
  return desk.create(request, body, async (submission) => {
    const { faults, model } = submission;
    if (!/^grok-imagine-image(?:-2\.0|-quality|-pro)?$/.test(model))
      throw invalid(`Model not found: ${model}`);
    const size = areaOf(resolution === '2k' ? 2048 : 1024, aspect_ratio);
    const order = { id: randomUUID(), detail: { ...size, seconds: 0, images: n, charge: 0 } };
    const job = await desk.paint(submission, order);
    const refused = faults.has('item-moderation') ? (faults.number('item-moderation') ?? 0) : -1;
    const data = job.pictures(response_format, { look: { format: 'jpeg' } }).map((file, index) => {
      const isRefused = faults.has('moderation-in-task') || index === refused;
      return { ...(isRefused ? { url: '' } : file), revised_prompt: '', respect_moderation: !isRefused };
    });
    const inputs = [image ?? images ?? []].flat().length;
    const made = data.filter((one) => one.respect_moderation).length;
    if (made === 0) return rejected('image', job.billed(data.length * imageRate + inputs * inputImageRate));
    const usage = job.reported(ticksOf(job.billed(made * imageRate + inputs * inputImageRate)));
    return json(200, { created: inSeconds(job.now), data, usage });
  });
}
