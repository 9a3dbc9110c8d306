import { randomInt } from 'node:crypto';
import { z } from 'zod';
import { createDialect } from '../dialect.ts';
import type { Call, Dialect } from '../dialect.ts';
import type { FaultSet } from '../fault.ts';
import { JobDesk } from '../job-desk.ts';
import { inSeconds, Job, rendered } from '../job.ts';
import { linesOf, sizeOf } from '../sizes.ts';
import type { Task } from '../task.ts';
import { bearerToken, check, json, parseJson } from '../wire.ts';
import type { Reply } from '../wire.ts';
import type { World } from '../world.ts';
import {
  confirmedCallback,
  hailuoProblems,
  invalidParams,
  miniMaxError,
  miniMaxProblems,
  noMiniMaxRoute,
  outputModerated,
} from './minimax-error.ts';

const knownForMs = 7 * 86_400_000;
const expiresAfterMs = 2 * 86_400_000;
/** It is not stated; a query gives a fresh link. */
const linkSeconds = 6 * 3600;
const tokensPerSecond = 52_078;
const tokensPerPrompt = 13_500;

const address = (type: 'image' | 'video' | 'audio') =>
  z.strictObject({
    url: z.string().regex(new RegExp(`^(?:https?://|mm_file://|data:${type}/[a-z0-9.+-]+;base64,).`)),
  });
const item = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text'), text: z.string().trim().min(1).max(7000) }),
  z.strictObject({
    type: z.literal('image_url'),
    image_url: address('image'),
    role: z.enum(['first_frame', 'last_frame', 'reference_image']).optional(),
  }),
  z.strictObject({
    type: z.literal('video_url'),
    video_url: address('video'),
    role: z.literal('reference_video'),
  }),
  z.strictObject({
    type: z.literal('audio_url'),
    audio_url: address('audio'),
    role: z.literal('reference_audio'),
  }),
]);
const bodySchema = z.strictObject({
  model: z.string(),
  content: z.array(item).min(1),
  resolution: z.enum(['480P', '768P', '2K']),
  duration: z.int().min(1).max(60),
  ratio: z.enum(['adaptive', '21:9', '16:9', '4:3', '1:1', '3:4', '9:16']).default('adaptive'),
  extra: z.strictObject({ prompt_expansion_mode: z.enum(['disabled', 'balanced', 'quality']).optional() }).optional(),
  callback_url: z.url().optional(),
  aigc_watermark: z.boolean().optional(),
}); // prettier-ignore

const miniMaxDetail = z.object({
  ...rendered,
  resolution: z.string(),
  ratio: z.string(),
  inputSeconds: z.number(),
  inputImages: z.number(),
  inputAudios: z.number(),
});
type MiniMaxDetail = z.infer<typeof miniMaxDetail>;
type MiniMaxDesk = JobDesk<MiniMaxDetail>;

/** MiniMax v2: H3. */
export function createMiniMaxDialect(world: World): Dialect {
  const desk: MiniMaxDesk = new JobDesk(world, {
    name: 'minimax',
    problems: miniMaxProblems,
    detail: miniMaxDetail,
    recordKeptMs: knownForMs,
    knownForMs,
    // The envelope of a callback is not verified: that of the query, or with docs-shape the bare task.
    callbackBody(task) {
      const job = new Job(task, world);
      return job.faults.has('docs-shape') ? present(job) : { task: present(job) };
    },
  });
  return createDialect(desk, {
    prefix: '/minimax/v2',
    noSuchRoute: noMiniMaxRoute,
    routes: {
      'POST /video_generation': (call) => submit(desk, call),
      'GET /query/video_generation': (call) => list(desk, call),
      'GET /query/video_generation/:id': (call) =>
        desk.about('poll', call, { found: (task) => json(200, { task: present(new Job(task, world)) }) }),
      'DELETE /video_generation/:id': (call) =>
        desk.about('delete', call, { found: (task) => remove(desk, task) }),
    },
  });
}

function submit(desk: MiniMaxDesk, { request }: Call): Promise<Reply> {
  const body = check(bodySchema, parseJson(request.body), ({ path, reason }) =>
    invalidParams(`${path}: ${reason}`),
  );
  const texts = body.content.flatMap((each) => (each.type === 'text' ? [each.text] : []));
  return desk.create(request, { model: body.model, prompt: texts.join('\n') }, async (submission) => {
    const { model, faults } = submission;
    if (!/^MiniMax-H\d/.test(model)) throw invalidParams(`unknown model: ${model}`);
    // The status of a plan's limit is not verified: either.
    if (bearerToken(request)?.startsWith('sk-cp-') === true)
      throw miniMaxError(faults.has('docs-shape') ? 429 : 402, 2056, 'usage limit exceeded');
    const callbackUrl = await confirmedCallback(body.callback_url, desk.world);
    const id = `${randomInt(100_000_000, 999_999_999)}${randomInt(100_000, 999_999)}`;
    await desk.accept(submission, { id, expiresAfterMs, detail: settle(body, faults), callbackUrl });
    return json(200, { task_id: id });
  });
}

function settle(body: z.infer<typeof bodySchema>, faults: FaultSet): MiniMaxDetail {
  const { content, resolution, duration } = body;
  const count = (type: string) => content.filter((each) => each.type === type).length;
  const hasFrames = content.some((each) => each.type === 'image_url' && each.role !== 'reference_image');
  const isOpen = hasFrames || body.ratio === 'adaptive';
  const ratio = isOpen ? (faults.text('ratio') ?? '16:9') : body.ratio;
  return {
    ...sizeOf(linesOf(resolution), ratio),
    seconds: duration,
    images: 0,
    resolution,
    ratio,
    inputSeconds: faults.number('input-seconds') ?? count('video_url') * 5,
    inputImages: count('image_url'),
    inputAudios: count('audio_url'),
  };
}

function wordOf({ phase }: Job<MiniMaxDetail>): string {
  return phase === 'unknown' ? 'postprocessing' : phase;
}

function present(job: Job<MiniMaxDetail>): Record<string, unknown> {
  const { task, detail, phase, since, now } = job;
  const { resolution, ratio, seconds: duration } = detail;
  const head = { id: task.id, model: task.model, status: wordOf(job) };
  const tail = {
    created_at: inSeconds(task.createdAt),
    updated_at: inSeconds(since),
    task_type: 'generation',
    modality: 'video',
  };
  if (phase === 'failed') return { ...head, error: errorOf(job), usage: {}, ...tail };
  if (phase !== 'succeeded') return { ...head, ...tail };
  // A new link for each question.
  const [url] = job.links({ lifetimeSeconds: linkSeconds, from: now });
  const content = url === undefined ? undefined : { url };
  return { ...head, content, resolution, duration, ratio, usage: job.reported(usageOf(job)), ...tail };
}

/** Its code is text or, with docs-shape, a number; `moderation-in-task=input` refuses what was asked for. */
function errorOf({ faults }: Job<MiniMaxDetail>): Record<string, unknown> {
  const refused = faults.text('moderation-in-task') === 'input' ? hailuoProblems.moderated : outputModerated;
  const { code, message } = faults.has('moderation-in-task') ? refused : hailuoProblems.internal;
  return { code: faults.has('docs-shape') ? code : String(code), message };
}

function usageOf(job: Job<MiniMaxDetail>) {
  const { seconds, inputSeconds, inputImages, inputAudios } = job.detail;
  const output = Math.ceil(job.billed(seconds));
  const completion = output * tokensPerSecond;
  return {
    total_seconds: inputSeconds + output,
    input_seconds: inputSeconds,
    output_seconds: output,
    input_image_count: inputImages,
    input_audio_seconds: inputAudios * 6,
    total_tokens: tokensPerPrompt + completion,
    prompt_tokens: tokensPerPrompt,
    completion_tokens: completion,
  };
}

/** Removes a job that waits, and the record of one that ended; not one that runs. */
function remove(desk: MiniMaxDesk, task: Task<MiniMaxDetail>): Reply {
  const job = new Job(task, desk.world);
  const { phase } = job;
  const isShort = job.faults.has('docs-shape');
  if (phase === 'queued') {
    desk.cancel(task);
    return json(200, { task_id: task.id, action: isShort ? 'cancel' : 'cancelled', status: 'cancelled' });
  }
  if (phase === 'running' || phase === 'unknown' || phase === 'cancelled')
    throw invalidParams(`a task that is ${wordOf(job)} can be neither cancelled nor deleted`);
  desk.remove(task);
  return json(200, { task_id: task.id, action: isShort ? 'delete' : 'deleted', status: wordOf(job) });
}

function list(desk: MiniMaxDesk, call: Call): Promise<Reply> {
  const { query } = call.request;
  const [page, size] = [wholeNumber(query.get('page_num'), 1), wholeNumber(query.get('page_size'), 20)];
  const wanted = query.getAll('filter.task_ids');
  const jobs = desk.newestFirst().map((task) => new Job(task, desk.world));
  const matching = jobs.filter((job) => {
    const facts = { status: wordOf(job), model: job.task.model, task_type: 'generation' };
    if (wanted.length > 0 && !wanted.includes(job.task.id)) return false;
    return Object.entries(facts).every(([name, fact]) => (query.get(`filter.${name}`) ?? fact) === fact);
  });
  return desk.list(call, wanted.length > 0 ? matching.map(({ task }) => task) : [], () => {
    const items = matching.slice((page - 1) * size, page * size).map(present);
    return json(200, { items, total: matching.length });
  });
}

function wholeNumber(text: string | null, ifAbsent: number): number {
  const value = Number(text ?? ifAbsent);
  if (!Number.isInteger(value) || value < 1) throw invalidParams('page_num and page_size must be positive');
  return value;
}
