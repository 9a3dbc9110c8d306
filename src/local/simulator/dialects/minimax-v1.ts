import { randomInt } from 'node:crypto';
import { z } from 'zod';
import { createDialect } from '../dialect.ts';
import type { Call, Dialect } from '../dialect.ts';
import { JobDesk } from '../job-desk.ts';
import { inSeconds, Job, rendered, shown } from '../job.ts';
import { linesOf, sizeOf } from '../sizes.ts';
import { phaseWords } from '../task.ts';
import { check, json, parseJson } from '../wire.ts';
import type { Refusal, Reply } from '../wire.ts';
import type { World } from '../world.ts';
import {
  accepted,
  baseOf,
  confirmedCallback,
  hailuoProblems,
  invalidHailuo,
  noMiniMaxRoute,
  outputModerated,
} from './minimax-error.ts';
import { paintHailuo, picture } from './minimax-image.ts';

const recordKeptMs = 7 * 86_400_000;
const fileLinkSeconds = 3600;

const bodySchema = z.strictObject({
  model: z.string(),
  prompt: z.string().max(2000).default(''),
  duration: z.int().min(1).max(60).default(6),
  resolution: z.enum(['512P', '720P', '768P', '1080P']).default('768P'),
  prompt_optimizer: z.boolean().optional(),
  fast_pretreatment: z.boolean().optional(),
  first_frame_image: picture.optional(),
  last_frame_image: picture.optional(),
  subject_reference: z
    .array(z.strictObject({ type: z.literal('character'), image: z.array(picture).length(1) }))
    .length(1)
    .optional(),
  callback_url: z.url().optional(),
  aigc_watermark: z.boolean().optional(),
});

/** The file has an id of its own. */
const hailuoDetail = z.object({ ...rendered, fileId: z.string() });
type HailuoDetail = z.infer<typeof hailuoDetail>;
type HailuoDesk = JobDesk<HailuoDetail>;
type HailuoJob = Job<HailuoDetail>;

/** MiniMax v1: Hailuo videos in three calls, and images at once. */
export function createMiniMaxV1Dialect(world: World): Dialect {
  const desk: HailuoDesk = new JobDesk(world, {
    name: 'minimax-v1',
    problems: hailuoProblems,
    detail: hailuoDetail,
    recordKeptMs,
    callbackBody: (task) => presentCallback(new Job(task, world)),
  });
  return createDialect(desk, {
    prefix: '/minimax/v1',
    noSuchRoute: noMiniMaxRoute,
    routes: {
      'POST /video_generation': (call) => submit(desk, call),
      // The id stands in the query.
      'GET /query/video_generation': ({ request }) =>
        desk.about('poll', { request, id: request.query.get('task_id') ?? '' }, shown(world, present)),
      'GET /files/retrieve': (call) => aboutFile(desk, call, retrieve),
      'POST /image_generation': (call) => paintHailuo(desk, call),
    },
  });
}

const idDigits = (): string => `${randomInt(100_000_000, 899_999_999)}${randomInt(100_000, 999_999)}`;

function submit(desk: HailuoDesk, { request }: Call): Promise<Reply> {
  const body = check(bodySchema, parseJson(request.body), ({ path, reason }) =>
    invalidHailuo(`${path}: ${reason}`),
  );
  return desk.create(request, body, async (submission) => {
    const { model, faults } = submission;
    if (!/^(?:MiniMax-Hailuo-|[TIS]2V-01)/.test(model)) throw invalidHailuo(`unknown model: ${model}`);
    const size = sizeOf(linesOf(body.resolution), faults.text('ratio') ?? '16:9');
    const callbackUrl = await confirmedCallback(body.callback_url, desk.world);
    const detail = { ...size, seconds: body.duration, images: 0, fileId: idDigits() };
    const { id } = await desk.accept(submission, {
      id: idDigits(),
      expiresAfterMs: recordKeptMs,
      detail,
      callbackUrl,
    });
    return json(200, { task_id: id, base_resp: accepted });
  });
}

const wordFor = phaseWords('Queueing Processing Success Fail Fail Fail Reviewing');

/** The reason of a failure stands where the answer's own state does. */
function failureOf({ phase, faults }: HailuoJob): Refusal | undefined {
  if (wordFor(phase) !== 'Fail') return undefined;
  return faults.has('moderation-in-task') ? outputModerated : hailuoProblems.internal;
}

function present(job: HailuoJob): Record<string, unknown> {
  const { task, detail, phase, faults } = job;
  const failure = failureOf(job);
  // Before the queue, a task is prepared: reported of every task as long as it waits, with docs-shape.
  const isPreparing = phase === 'queued' && faults.has('docs-shape');
  const file = { file_id: detail.fileId, video_width: detail.width, video_height: detail.height };
  return {
    task_id: task.id,
    status: isPreparing ? 'Preparing' : wordFor(phase),
    ...(phase === 'succeeded' ? file : {}),
    base_resp: failure === undefined ? accepted : baseOf(failure),
  };
}

/** In small letters; the vendor's sample also has them as the query does: with docs-shape. */
function presentCallback(job: HailuoJob): Record<string, unknown> {
  const { task, detail, phase, faults } = job;
  const failure = failureOf(job);
  const word = failure !== undefined ? 'Failed' : phase === 'succeeded' ? 'Success' : 'Processing';
  return {
    task_id: task.id,
    status: faults.has('docs-shape') ? word : word.toLowerCase(),
    file_id: phase === 'succeeded' ? detail.fileId : undefined,
    base_resp: failure === undefined ? accepted : baseOf(failure),
  };
}

/** A file exists once its task succeeded. */
function aboutFile(desk: HailuoDesk, { request }: Call, found: (job: HailuoJob) => Reply): Promise<Reply> {
  const wanted = request.query.get('file_id') ?? '';
  const jobs = desk.newestFirst().map((task) => new Job(task, desk.world));
  const job = jobs.find(({ detail, phase }) => detail.fileId === wanted && phase === 'succeeded');
  const missing = () => invalidHailuo('invalid file_id').reply(desk.world.now());
  const answers = { found: () => (job === undefined ? missing() : found(job)), missing };
  return desk.about('poll', { request, task: job?.task }, answers);
}

/** Each retrieval gives a new link. */
function retrieve(job: HailuoJob): Reply {
  const file = {
    // A number here, text in the query.
    file_id: Number(job.detail.fileId),
    bytes: 0,
    created_at: inSeconds(job.task.createdAt),
    filename: 'output_aigc.mp4',
    purpose: 'video_generation',
    download_url: job.links({ lifetimeSeconds: fileLinkSeconds, from: job.now })[0],
  };
  return json(200, { file, base_resp: accepted });
}
