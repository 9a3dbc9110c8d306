import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { bytes, check, dialect, json, linesOf, link, media, sizeOf, taken, word } from '../engine.ts';
import { Refusal } from '../engine.ts';
import type { Call, FaultSet, Reply, WireRequest } from '../engine.ts';
import type { World } from '../world.ts';
import { listRequests } from './fal-history.ts';
import { falError, falProblems, invalidInput, outputOf, stateOf, unitsOf } from './fal-task.ts';
import type { FalDesk, FalDetail, FalJob } from './fal-task.ts';
import { keySet, signWebhook, webhookBody } from './fal-webhook.ts';

const keptMs = 30 * 86_400_000;

export const fal = dialect<FalDetail>({
  name: 'fal',
  prefix: '/fal',
  keptMs,
  expiresAfterMs: keptMs,
  keyOf,
  mistake: invalidInput,
  noSuchRoute: () => falError(404, '', 'Path not found'),
  problems: falProblems,
  callbackBody: webhookBody,
  callbackHeaders: signWebhook,
  routes: (desk) => ({
    'GET /.well-known/jwks.json': () => json(200, keySet),
    'GET /v1/models/requests/by-endpoint': (call) => listRequests(desk, call),
    [`GET ${app}/:id/status`]: (call) =>
      about(desk, 'poll', call, (job) => presentStatus(job, desk, call.request)),
    [`GET ${app}/:id`]: (call) => about(desk, 'poll', call, presentResult),
    [`PUT ${app}/:id/cancel`]: (call) => about(desk, 'delete', call, (job) => cancel(desk, job)),
    'POST /([^?]+)': (call) => submit(desk, call),
  }),
});

const app = '/[^/]+/[^/]+/requests';

/** The header's scheme is `Key` instead of `Bearer`. Requests for the public keys require no authentication. */
function keyOf({ headers, path }: WireRequest, world: World): string | undefined {
  if (path === '/.well-known/jwks.json') return world.parts.apiKeys?.[0] ?? 'anybody';
  return /^Key\s+(\S+)$/i.exec(headers.authorization ?? '')?.[1];
}

function appOf(model: string): string {
  return model.split('/').slice(0, 2).join('/');
}

const notFound = falError(404, '', 'Request not found');

function about(
  desk: FalDesk,
  stage: 'poll' | 'delete',
  { request, id }: Call,
  found: (job: FalJob) => Reply,
): Promise<Reply> {
  const known = desk.find(id);
  const isNamed = known !== undefined && request.path.startsWith(`/${appOf(known.model)}/requests/`);
  const missing = () =>
    stage === 'delete' ? json(404, { status: 'NOT_FOUND' }) : notFound.reply(desk.world.now());
  return desk.about(stage, { request, job: isNamed ? known : undefined }, found, missing);
}

const outline = z.object({ prompt: z.string().catch(''), end_user_id: z.string().catch('') });

function submit(desk: FalDesk, { request, id: path }: Call): Promise<Reply> {
  const input = desk.read(z.record(z.string(), z.unknown()), request);
  const { prompt, end_user_id: endUser } = outline.parse(input);
  const hook = request.query.get('fal_webhook');
  if (hook !== null && !link.safeParse(hook).success)
    throw falError(400, 'bad_request', 'fal_webhook is not a URL');
  return desk.create(request, { model: path, prompt, endUser }, async (submission) => {
    const { model, faults } = submission;
    const isVideo = /^(?:bytedance|fal-ai)\/.*-to-video$/.test(model);
    if (!isVideo && !/^fal-ai\/(?:flux|seedream)/.test(model))
      throw falError(404, '', `Application ${JSON.stringify(model)} not found`);
    const detail = { ...settle(isVideo, input, faults), input };
    const job = await desk.accept(submission, { id: randomUUID(), detail, callbackUrl: hook });
    const gateway_request_id = hook === null ? undefined : job.id;
    return json(200, { status: 'IN_QUEUE', queue_position: 0, ...names(job), gateway_request_id });
  });
}

const seconds = z.string().regex(/^(?:auto|\d{1,2})$/, 'must be a length in a string');
const prompt = z.string().min(1);
const videoSchema = z.strictObject({
  ...taken({ text: 'shot_type bitrate_mode negative_prompt end_user_id', flag: 'generate_audio', number: 'cfg_scale' }),
  ...taken({ media: 'image_url start_image_url end_image_url' }),
  prompt: prompt.optional(),
  multi_prompt: z.array(z.strictObject({ prompt, duration: seconds })).min(1).optional(),
  duration: seconds.default('5'),
  resolution: word('480p 720p 1080p 4k').default('720p'),
  aspect_ratio: z.string().default('auto'),
  elements: z.array(z.looseObject({ voice_id: z.string().optional() })).optional(),
  image_urls: z.array(media).optional(),
  video_urls: z.array(media).optional(),
  audio_urls: z.array(media).optional(),
}); // prettier-ignore
const side = z.int().min(64);
const presets: Readonly<Record<string, readonly [number, number]>> = {
  auto: [1024, 1024],
  square_hd: [1024, 1024],
  square: [512, 512],
  portrait_4_3: [768, 1024],
  portrait_16_9: [576, 1024],
  landscape_4_3: [1024, 768],
  landscape_16_9: [1024, 576],
};
const imageSchema = z.strictObject({
  ...taken({ text: 'output_format safety_tolerance', flag: 'enable_safety_checker' }),
  prompt,
  image_size: z
    .union([z.enum(Object.keys(presets)), z.strictObject({ width: side, height: side })])
    .default('landscape_4_3'),
  seed: z.int().default(42),
  image_urls: z.array(media).min(1).optional(),
});

type Settled = Omit<FalDetail, 'input'>;

/** An invalid input is reported by the result or, with `docs-shape`, by the response to the submission. */
function settle(isVideo: boolean, input: unknown, faults: FaultSet): Settled {
  try {
    return isVideo ? settleVideo(input) : settleImage(input);
  } catch (error) {
    if (!(error instanceof Refusal) || faults.has('docs-shape')) throw error;
    const { message, code, param: loc } = error;
    const none = { width: 0, height: 0, seconds: 0, units: 0 };
    return { ...none, mistake: { message, type: String(code), loc } };
  }
}

function settleVideo(input: unknown): Settled {
  const { duration, resolution, aspect_ratio } = check(videoSchema, input, invalidInput);
  const length = duration === 'auto' ? 5 : Number(duration);
  const size = sizeOf(linesOf(resolution), aspect_ratio);
  const units = Math.round((size.width * size.height * 24 * length) / 10_240);
  return { ...size, seconds: length, units, seed: 42 };
}

function settleImage(input: unknown): Settled {
  const { image_size: asked, seed } = check(imageSchema, input, invalidInput);
  const [width, height] =
    typeof asked === 'string' ? (presets[asked] ?? [1024, 1024]) : [asked.width, asked.height];
  const units = Math.ceil((width * height) / 1_000_000) * 100;
  return { width, height, seconds: 0, images: 1, units, seed };
}

function names({ id: request_id, model, world }: FalJob): object {
  const url = `${world.parts.origin}/fal/${appOf(model)}/requests/${request_id}`;
  return { request_id, response_url: url, status_url: `${url}/status`, cancel_url: `${url}/cancel` };
}

function presentStatus(job: FalJob, desk: FalDesk, { query }: WireRequest): Reply {
  const { word: status, isEnded, since, error } = stateOf(job);
  const base = { status, ...names(job) };
  if (isEnded) {
    const isPlatform = error !== undefined && error.param === '';
    const failure = isPlatform ? { error: error.message, error_type: error.code } : {};
    return json(200, { ...base, metrics: { inference_time: job.task.renderMs / 1000 }, ...failure });
  }
  if (status === 'IN_QUEUE') return json(202, { ...base, queue_position: positionOf(job, desk) });
  const timestamp = new Date(since).toISOString();
  const logs = [{ message: 'rendering', level: 'INFO', source: 'USER', timestamp }];
  return json(202, { ...base, ...(query.get('logs') === '1' ? { logs } : {}) });
}

function positionOf({ id, model }: FalJob, desk: FalDesk): number {
  const all = desk.newestFirst().filter((job) => job.model === model);
  const older = all.slice(all.findIndex((job) => job.id === id) + 1);
  return older.filter(({ phase }) => phase === 'queued').length;
}

function presentResult(job: FalJob): Reply {
  const { faults, now } = job;
  const state = stateOf(job);
  const { error } = state;
  const id = { 'x-fal-request-id': job.id };
  if (!state.isEnded) return json(400, { detail: 'Request is still in progress' }, id);
  // We have not verified the response to a query after a cancellation. The simulator returns 499 or, with `docs-shape`,
  // the response for an unknown request.
  const isUnheard = error?.status === 499 && faults.has('docs-shape');
  if (isUnheard) return notFound.reply(now);
  if (error !== undefined) {
    const reply = error.reply(now);
    if (reply.kind !== 'send') return reply;
    return bytes(reply.status, reply.body, { ...reply.headers, ...id });
  }
  const units = faults.has('missing-usage') ? {} : { 'x-fal-billable-units': unitsOf(job) };
  return json(200, outputOf(job, state.since), { ...id, ...units });
}

function cancel(desk: FalDesk, job: FalJob): Reply {
  const { word, isEnded } = stateOf(job);
  if (job.isOver || isEnded) return json(400, { status: 'ALREADY_COMPLETED' });
  const isQueued = word === 'IN_QUEUE';
  if (isQueued || job.faults.has('docs-shape')) desk.cancel(job);
  return isQueued ? json(200, { status: 'OK' }) : json(202, { status: 'CANCELLATION_REQUESTED' });
}
