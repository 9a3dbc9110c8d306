import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Desk, Problems, Submission } from '../desk.ts';
import { createDialect } from '../dialect.ts';
import type { Call, Dialect } from '../dialect.ts';
import type { FaultSet } from '../fault.ts';
import { JobDesk } from '../job-desk.ts';
import { inSeconds, Job, rendered } from '../job.ts';
import { areaOf, linesOf, sizeOf } from '../sizes.ts';
import { bearerToken, bytes, check, json, parseJson, refusals } from '../wire.ts';
import type { Mistake, Reply } from '../wire.ts';
import type { World } from '../world.ts';

const recordKeptMs = 7 * 86_400_000;
const expiresAfterMs = 86_400_000;
/** "Temporary": no figure is given. */
const linkSeconds = 3600;
const ticksPerThousandth = 10_000_000;
/** Thousandths of a dollar: of a second, of an image, and of each image that an edit starts from. */
const rates: Readonly<Record<string, number>> = { '480p': 50, '720p': 70, '1080p': 250 };
const imageRate = 60;
const inputImageRate = 10;

const inputSecondsMax = { edits: 8.7, extensions: 15 };

/** The code is a sentence, and several things share one: the words distinguish them. */
const refuse = refusals(({ status, code, message }) => json(status, { code, error: message }));
const invalid = (message: string) => refuse(400, 'Client specified an invalid argument', message);
const permission = 'The caller does not have permission to execute the specified operation';
const notFound = 'Some requested entity was not found';
const exhausted = 'Some resource has been exhausted';
const refuseField = ({ path, reason }: Mistake) =>
  invalid(path === '' ? `Argument not supported on this model: ${reason}` : `${path}: ${reason}`);

const problems = {
  unauthorized: invalid('Incorrect API key provided: xa***ey.'),
  forbidden: refuse(403, permission, 'The team has no access to this model.'),
  'not-found': refuse(404, notFound, 'The request was not found.'),
  'rate-limited': refuse(429, exhausted, 'Too many requests.'),
  'quota-exhausted': refuse(402, exhausted, 'All credits are used up.'),
  moderated: invalid('Content violates usage guidelines.'),
  internal: refuse(500, 'Internal error', 'An internal error occurred.'),
  unavailable: refuse(503, 'The service is currently unavailable', 'The model is at capacity.'),
} satisfies Problems;

/** `charge` in thousandths of a dollar. */
const xaiDetail = z.object({ ...rendered, charge: z.number() });
type XaiDetail = z.infer<typeof xaiDetail>;
type XaiJob = Job<XaiDetail>;

/** xAI: Grok Imagine. Nothing is listed, cancelled or called back. */
export function createXaiDialect(world: World): Dialect {
  const desk = new JobDesk(world, { name: 'xai', problems, detail: xaiDetail, recordKeptMs });
  return createDialect(desk, {
    prefix: '/xai/v1',
    // No key at all is 401; one that is wrong is an invalid argument.
    keyOf(request) {
      const key = bearerToken(request);
      if (key === undefined) throw refuse(401, permission, 'No API key was provided.');
      return key;
    },
    noSuchRoute: ({ method, path }) => refuse(404, notFound, `No such path: ${method} ${path}`),
    routes: {
      'POST /videos/generations': (call) => submit(desk, call, 'generations'),
      'POST /videos/edits': (call) => submit(desk, call, 'edits'),
      'POST /videos/extensions': (call) => submit(desk, call, 'extensions'),
      'GET /videos/:id': (call) =>
        desk.about('poll', call, { found: (task) => present(new Job(task, world)) }),
      'POST /images/generations': (call) => paint(desk, call, 'generations'),
      'POST /images/edits': (call) => paint(desk, call, 'edits'),
    },
  });
}

const picture = z
  .string()
  .regex(/^(?:https?:\/\/\S+|data:image\/[a-z]+;base64,[A-Za-z0-9+/]+=*)$/, 'must be a URL or a data URL');
const still = z.strictObject({ url: picture });
const video = z.strictObject({ url: z.url() });
const common = {
  model: z.string(),
  prompt: z.string(),
  /** Its spelling is not verified. */
  storage_options: z.looseObject({ filename: z.string().optional() }).optional(),
  user: z.string().optional(),
};
const bodies = {
  generations: z.strictObject({
    ...common,
    duration: z.int().min(1).max(15).default(8),
    aspect_ratio: z.enum(['16:9', '9:16', '1:1', '4:3', '3:4', '3:2', '2:3']).default('16:9'),
    resolution: z.enum(['480p', '720p', '1080p']).default('480p'),
    image: still.optional(),
    last_frame: still.optional(),
    keyframes: z.array(z.strictObject({ image: still, timestamp_s: z.number().nonnegative() })).optional(),
    reference_images: z.array(still).min(1).optional(),
    reference_audios: z.array(z.strictObject({ voice_id: z.string().min(1) })).optional(),
    generate_audio: z.boolean().optional(),
  }),
  edits: z.strictObject({ ...common, video }),
  extensions: z.strictObject({ ...common, video, duration: z.int().min(2).max(10).default(6) }),
};
type Operation = keyof typeof bodies;

function submit(desk: JobDesk<XaiDetail>, { request }: Call, operation: Operation): Promise<Reply> {
  const raw = parseJson(request.body);
  const { model, prompt } = check<{ model: string; prompt: string }>(bodies[operation], raw, refuseField);
  return desk.create(request, { model, prompt }, async (submission) => {
    if (!submission.model.startsWith('grok-imagine-video'))
      throw invalid(`Model not found: ${submission.model}`);
    const detail = settle(operation, raw, submission.faults);
    const task = await desk.accept(submission, { id: randomUUID(), expiresAfterMs, detail });
    return json(200, { request_id: task.id });
  });
}

/** An edit is as long as its input; of an extension, what was added is charged for. Both are at most 720p. */
function settle(operation: Operation, raw: unknown, faults: FaultSet): XaiDetail {
  if (operation === 'generations') {
    const { duration, resolution, aspect_ratio } = check(bodies.generations, raw, refuseField);
    const charge = (rates[resolution] ?? 0) * duration;
    return { ...sizeOf(linesOf(resolution), aspect_ratio), seconds: duration, images: 0, charge };
  }
  const input = faults.number('input-seconds') ?? 5;
  // What is billed is limited by what is read.
  if (input > inputSecondsMax[operation]) throw invalid('The video is too long.');
  const added = operation === 'extensions' ? check(bodies.extensions, raw, refuseField).duration : 0;
  const charge = (rates['720p'] ?? 0) * (added === 0 ? input : added);
  return { ...sizeOf(720, '16:9'), seconds: input + added, images: 0, charge };
}

/** 202 as long as it is not over; with docs-shape without a body, and at the end without a word. */
function present(job: XaiJob): Reply {
  const { task, detail, phase, faults, now } = job;
  const isOld = faults.has('docs-shape');
  switch (phase) {
    case 'queued':
    case 'running':
    case 'unknown': {
      if (isOld) return bytes(202, Buffer.alloc(0), {});
      const progress = Math.min(
        99,
        Math.floor((100 * (now - task.createdAt)) / (task.queueMs + task.renderMs)),
      );
      return json(202, { status: phase === 'unknown' ? 'postprocessing' : 'pending', progress });
    }
    case 'succeeded': {
      const [url] = job.links({ lifetimeSeconds: linkSeconds });
      const made = { url, duration: detail.seconds, respect_moderation: true };
      return json(200, {
        ...(isOld ? {} : { status: 'done' }),
        ...ended(job, made, job.billed(detail.charge)),
      });
    }
    case 'failed': {
      // What was rendered did not pass: it is done all the same. Whether it is billed is not verified: with docs-shape not.
      const none = { url: '', duration: 0, respect_moderation: false };
      const charge = isOld ? 0 : job.billed(detail.charge);
      if (faults.has('moderation-in-task')) return json(200, { status: 'done', ...ended(job, none, charge) });
      const error = { code: 'internal_error', message: problems.internal.message };
      return json(200, { status: 'failed', progress: 0, error });
    }
    // Nothing cancels.
    case 'cancelled':
    case 'expired':
      return json(200, { status: 'expired', progress: 0 });
  }
}

function ended(job: XaiJob, made: object, charge: number): Record<string, unknown> {
  return { progress: 100, model: job.task.model, video: made, usage: job.reported(ticksOf(charge)) };
}

function ticksOf(thousandths: number) {
  return { cost_in_usd_ticks: Math.round(thousandths * ticksPerThousandth) };
}

const source = z.strictObject({ url: picture, type: z.literal('image_url') });
const imageRatios = ['auto', '1:1', '16:9', '9:16', '4:3', '3:4', '3:2', '2:3', '2:1', '1:2', '20:9', '9:20', '19.5:9', '9:19.5']; // prettier-ignore
const imageFields = {
  model: z.string(),
  prompt: z.string().min(1),
  n: z.int().min(1).max(10).default(1),
  aspect_ratio: z.enum(imageRatios).default('auto'),
  resolution: z.enum(['1k', '2k']).default('1k'),
  quality: z.enum(['low', 'medium']).optional(),
  response_format: z.enum(['url', 'b64_json']).default('url'),
  output_format: z.string().optional(),
  sync_mode: z.boolean().optional(),
  user: z.string().optional(),
};
const imageBodies = {
  generations: z.strictObject({
    ...imageFields,
    image: z.undefined().optional(),
    images: z.undefined().optional(),
  }),
  edits: z.strictObject({
    ...imageFields,
    image: source.optional(),
    images: z.array(source).min(1).optional(),
  }),
};
type ImageBody = z.infer<typeof imageBodies.edits>;

/** Images at once. */
function paint(desk: Desk, { request }: Call, operation: keyof typeof imageBodies): Promise<Reply> {
  const body = check<ImageBody>(imageBodies[operation], parseJson(request.body), refuseField);
  if (operation === 'edits' && (body.image === undefined) === (body.images === undefined))
    throw invalid('Exactly one of image and images is required.');
  return desk.create(request, body, (submission) => generate(desk, body, submission));
}

async function generate(desk: Desk, body: ImageBody, submission: Submission): Promise<Reply> {
  const { world } = desk;
  const { faults, model } = submission;
  if (!/^grok-imagine-image(?:-2\.0|-quality|-pro)?$/.test(model)) throw invalid(`Model not found: ${model}`);
  await world.paint(faults);
  const refused = faults.has('item-moderation') ? (faults.number('item-moderation') ?? 0) : -1;
  const owner = { id: randomUUID(), faults: faults.sources() };
  const size = areaOf(body.resolution === '2k' ? 2048 : 1024, body.aspect_ratio);
  const data = Array.from({ length: body.n }, (_, tint) => {
    if (faults.has('moderation-in-task') || tint === refused)
      return { url: '', revised_prompt: '', respect_moderation: false };
    const medium = world.image(size, { format: 'jpeg', tint, marked: false }, faults);
    const file =
      body.response_format === 'b64_json'
        ? { b64_json: world.renderBase64(medium) }
        : { url: world.link(owner, medium, world.now()) };
    return { ...(faults.has('missing-url') ? {} : file), revised_prompt: '', respect_moderation: true };
  });
  desk.countCreate(submission);
  const inputs = [body.image ?? body.images ?? []].flat().length;
  const made = data.filter(({ respect_moderation: isFine }) => isFine).length;
  const charge = made === 0 ? 0 : made * imageRate + inputs * inputImageRate;
  const usage = ticksOf(charge * faults.usageFactor());
  const created = inSeconds(world.now());
  return json(200, { created, data, ...(faults.has('missing-usage') ? {} : { usage }) });
}
