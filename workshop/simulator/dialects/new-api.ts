import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { bytes, check, dialect, empty, inSeconds, json, pairIn, parseJson } from '../engine.ts';
import { phaseWords, readForm, Refusal, refusals, textsOf } from '../engine.ts';
import type { Call, Desk, FaultSet, Job, Rendered, Reply, WireRequest } from '../engine.ts';
import { framesPerSecond } from '../media/clips.ts';
import { arkModel, readArkBody, settleArk } from './ark-request.ts';
import { imageRoutes, noSuchUrl } from './openai-images.ts';

/** The task relay and the middleware in front of it reject requests in different formats. */
const relay = refusals(({ status, code, message }) => json(status, { code, message, data: null }));
const middleware = refusals(({ status, code, message }) => {
  const text = `${message} (request id: ${randomBytes(8).toString('hex')})`;
  return json(status, { error: { message: text, type: 'new_api_error', param: '', code } });
});
const passedOn = (status: number, error: object) =>
  relay(status, 'fail_to_fetch_task', JSON.stringify({ error }));
const sensitive = (part: string) =>
  `The request failed because the ${part} may contain sensitive information.`;
const forbidden = middleware(403, 'access_denied', 'This token has no access to the model');

type Detail = Rendered & {
  readonly tokens?: number;
};

export const newApi = dialect<Detail>({
  name: 'new-api',
  prefix: '/new-api/v1',
  keptMs: 30 * 86_400_000,
  noSuchRoute: noSuchUrl,
  mistake: () => relay(400, 'invalid_request', 'invalid request body'),
  problems: {
    unauthorized: middleware(401, 'invalid_api_key', 'Invalid token'),
    forbidden,
    'not-found': relay(400, 'task_not_exist', 'task_not_exist'),
    'rate-limited': middleware(429, 'rate_limit_exceeded', 'Too many requests'),
    'quota-exhausted': relay(403, 'quota_not_enough', 'user quota is not enough'),
    moderated: passedOn(400, { code: 'InputTextSensitiveContentDetected', message: sensitive('input text') }),
    internal: relay(500, 'fail_to_fetch_task', 'upstream request failed'),
    unavailable: middleware(503, 'get_channel_failed', 'No available channel for the model'),
  },
  routes: (desk) => ({
    'POST /video/generations': (call) => submit(desk, call),
    'GET /video/generations/:id': desk.shows(presentTask),
    'POST /videos': (call) => submit(desk, call),
    'GET /videos/:id': desk.shows(presentVideo),
    'GET /videos/:id/content': (call) => desk.about('media', call, content),
    ...imageRoutes(desk),
  }),
});

const metadataSchema = z.record(z.string(), z.unknown());
const seconds = z.union([z.int(), z.string().regex(/^\d+$/).transform(Number)]);
const bodySchema = z.object({
  model: z.string().min(1),
  prompt: z.string().min(1),
  image: z.string().optional(),
  images: z.array(z.string()).optional(),
  input_reference: z.string().optional(),
  size: z.string().regex(/^\d{2,5}x\d{2,5}$/).optional(),
  duration: seconds.optional(),
  seconds: seconds.optional(),
  metadata: metadataSchema.default({}),
}); // prettier-ignore
type Body = z.infer<typeof bodySchema>;

async function submit(desk: Desk<Detail>, { request }: Call): Promise<Reply> {
  const body = check(bodySchema, await readFields(desk, request), ({ field, reason, isAbsent }) =>
    relay(400, 'invalid_request', `${field} ${isAbsent ? 'is required' : reason}`),
  );
  return desk.create(request, body, async (submission) => {
    const { model, faults } = submission;
    const id = `task_${randomBytes(24).toString('base64url').replaceAll(/[-_]/g, '0')}`;
    const { detail, task } = await desk.accept(submission, { id, detail: settle(body, model, faults) });
    if (faults.has('ark-shape')) return json(200, { id });
    const created_at = inSeconds(task.createdAt);
    const about = { id, task_id: id, object: 'video', model, status: 'queued', progress: 0, created_at };
    return json(200, about, { 'x-new-api-other-ratios': JSON.stringify({ seconds: detail.seconds }) });
  });
}

async function readFields(desk: Desk<Detail>, request: WireRequest): Promise<Record<string, unknown>> {
  const form = await readForm(request);
  if (form === undefined) return desk.read(metadataSchema, request);
  const { metadata, ...rest } = textsOf(form);
  return metadata === undefined ? rest : { ...rest, metadata: parseJson(Buffer.from(metadata)) };
}

const otherModels = /^(sora-2|kling-|wan|vidu|veo-|hailuo|minimax)/i;

function settle(body: Body, asked: string, faults: FaultSet): Detail {
  const model = arkModel(asked);
  if (model !== undefined) return settleByArk(body, { asked, model }, faults);
  if (!otherModels.test(asked))
    throw middleware(503, 'model_not_found', `No available channel for model ${asked} under group default`);
  const { width, height } = pairIn(body.size ?? '') ?? { width: 1280, height: 720 };
  return { width, height, seconds: body.duration ?? body.seconds ?? 5 };
}

function settleByArk(
  body: Body,
  { asked, model }: { readonly asked: string; readonly model: string },
  faults: FaultSet,
): Detail {
  const { content: items, ...metadata } = body.metadata;
  const images = body.images ?? [body.image ?? body.input_reference ?? []].flat();
  const role = images.length > 1 ? { role: 'reference_image' } : {};
  const own: readonly unknown[] = images.map((url) => ({ type: 'image_url', image_url: { url }, ...role }));
  const media = Array.isArray(items) ? items.filter((item) => !isText(item)) : own;
  const duration = body.duration ?? body.seconds;
  try {
    const content = [{ type: 'text', text: body.prompt }, ...media];
    const order = readArkBody({ ...(duration === undefined ? {} : { duration }), ...metadata, content });
    return settleArk(order, { model, endpoint: asked }, faults);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const { status, code, message, param } = error;
    throw passedOn(status, { code, message, param, type: 'BadRequest' });
  }
}

function isText(item: unknown): boolean {
  return z.object({ type: z.literal('text') }).safeParse(item).success;
}

function content(job: Job<Detail>): Reply {
  if (job.phase !== 'succeeded') throw relay(400, 'invalid_request', 'Task is not completed yet');
  if (job.world.refusesFile(job.task)) throw forbidden;
  if (!job.faults.has('content-redirect')) return bytes(200, job.file(), { 'content-type': 'video/mp4' });
  return empty(302, { location: job.links()[0] ?? '' });
}

/**
 * The status words of the task dialect (upper case), of OpenAI, of the upstream and of the documentation, in this
 * order.
 */
const taskWord = phaseWords('QUEUED IN_PROGRESS SUCCESS FAILURE FAILURE FAILURE POST_PROCESSING');
const videoWord = phaseWords('queued in_progress completed failed failed failed post_processing');
const rawWord = phaseWords('queued running succeeded failed failed failed running');
const flatWord = phaseWords('queued processing succeeded failed failed failed post_processing');

/**
 * Returns the body of `GET /v1/video/generations/{id}`. It is nested and in upper case. With `docs-shape`, it is flat
 * as documented. With `ark-shape`, it has the upstream's own form.
 */
function presentTask(job: Job<Detail>): object {
  const { id: task_id, task, phase, since, faults } = job;
  if (faults.has('ark-shape')) return presentRaw(job);
  if (faults.has('docs-shape')) return presentFlat(job);
  const isLegacy = faults.has('legacy-url');
  const url = urlOf(job) ?? '';
  const data = {
    id: serial(task_id),
    task_id,
    platform: '54',
    user_id: 3,
    group: 'default',
    channel_id: 7,
    quota: 250_000,
    action: 'generate',
    status: phase === 'queued' ? queueWord(job) : taskWord(phase),
    fail_reason: errorOf(job)?.message ?? (isLegacy ? url : ''),
    result_url: isLegacy ? undefined : url,
    submit_time: inSeconds(task.createdAt),
    start_time: phase === 'queued' ? 0 : inSeconds(job.startsAt),
    finish_time: job.isOver ? inSeconds(since) : 0,
    progress: `${percent(job)}%`,
    properties: { input: task.prompt },
    data: presentRaw(job),
  };
  return { code: 'success', message: '', data };
}

function presentVideo(job: Job<Detail>): object {
  const { id, model, task, phase } = job;
  const url = urlOf(job);
  return {
    id,
    object: 'video',
    model,
    status: videoWord(phase),
    progress: percent(job),
    created_at: inSeconds(task.createdAt),
    completed_at: job.isOver ? inSeconds(job.since) : undefined,
    seconds: String(job.detail.seconds),
    metadata: url === undefined ? undefined : { url },
    error: errorOf(job),
  };
}

function queueWord({ task, now }: Job<Detail>): string {
  const share = task.queueMs === 0 ? 1 : (now - task.createdAt) / task.queueMs;
  return share < 1 / 3 ? 'NOT_START' : share < 2 / 3 ? 'SUBMITTED' : 'QUEUED';
}

function urlOf(job: Job<Detail>): string | undefined {
  if (job.phase !== 'succeeded' || !job.faults.has('proxy-link'))
    return job.phase === 'succeeded' ? job.links()[0] : undefined;
  return `https://relay.example/v1/videos/${job.id}/content`;
}

function presentRaw(job: Job<Detail>): object {
  const { task, detail, phase, since } = job;
  const video_url = urlOf(job);
  const tokens = Math.floor(job.billed(detail.tokens ?? 0));
  const isCounted = phase === 'succeeded' && detail.tokens !== undefined;
  return {
    id: `cgt-${job.id.slice(5, 25)}`,
    model: job.model,
    status: rawWord(phase),
    content: video_url === undefined ? undefined : { video_url },
    usage: isCounted ? job.reported({ completion_tokens: tokens, total_tokens: tokens }) : undefined,
    error: errorOf(job),
    duration: phase === 'succeeded' ? detail.seconds : undefined,
    created_at: inSeconds(task.createdAt),
    updated_at: inSeconds(since),
  };
}

function presentFlat(job: Job<Detail>): object {
  const { id: task_id, detail, phase } = job;
  const { width, height, seconds: duration } = detail;
  const url = urlOf(job);
  const metadata = { duration, fps: framesPerSecond, width, height, seed: 1 };
  const made = url === undefined ? {} : { url, format: 'mp4', metadata };
  return { task_id, status: flatWord(phase), ...made, error: errorOf(job) ?? null };
}

function errorOf({ phase, faults }: Job<Detail>): { code: string; message: string } | undefined {
  if (phase === 'expired') return { code: 'task_timeout', message: 'task timeout' };
  if (phase !== 'failed') return undefined;
  if (faults.has('moderation-in-task'))
    return { code: 'OutputVideoSensitiveContentDetected', message: sensitive('output video') };
  return { code: 'InternalServiceError', message: 'The service encountered an unexpected internal error.' };
}

function percent(job: Job<Detail>): number {
  return Math.max(job.phase === 'running' ? 1 : 0, Math.floor(100 * job.progress()));
}

function serial(id: string): number {
  return Array.from(id).reduce((sum, character) => (sum * 31 + character.charCodeAt(0)) % 1_000_003, 7);
}
