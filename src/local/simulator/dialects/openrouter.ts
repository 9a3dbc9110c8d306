import { createHmac, randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Problems } from '../desk.ts';
import { createDialect } from '../dialect.ts';
import type { Dialect } from '../dialect.ts';
import { Job, rendered, shown } from '../job.ts';
import { JobDesk } from '../job-desk.ts';
import { linesOf, sizeOf } from '../sizes.ts';
import { isFinal, phaseWords } from '../task.ts';
import { bytes, check, json, parseJson, refusals } from '../wire.ts';
import type { Reply } from '../wire.ts';
import type { World } from '../world.ts';

/** OpenRouter's videos. Nothing is listed or cancelled; the file is delivered for the key alone. */

const refuse = refusals(({ status, message }) => json(status, { error: { code: status, message } }));
const flagged = refusals(({ status: code, message }) => {
  const metadata = { reasons: ['violence'], flagged_input: 'a boat' };
  return json(code, { error: { code, message, metadata } });
});

const problems = {
  unauthorized: refuse(401, '', 'No auth credentials found'),
  forbidden: refuse(403, '', 'The key may not use this model.'),
  'not-found': refuse(404, '', 'Video generation not found'),
  'rate-limited': refuse(429, '', 'Rate limit exceeded'),
  'quota-exhausted': refuse(402, '', 'Insufficient credits'),
  moderated: flagged(403, '', 'The input was flagged.'),
  internal: refuse(500, '', 'Internal Server Error'),
  unavailable: refuse(503, '', 'No provider is available'),
} satisfies Problems;

const address = z.string().regex(/^(?:https?:\/\/\S+|data:[\w.+-]+\/[\w.+-]+;base64,\S+)$/);
const part = <Type extends string>(type: Type) =>
  z.strictObject({ type: z.literal(type), [type]: z.strictObject({ url: address }) });
const frame = part('image_url').extend({ frame_type: z.enum(['first_frame', 'last_frame']) });
const bodySchema = z.strictObject({
  model: z.string().min(1),
  prompt: z.string().default(''),
  duration: z.int().positive().default(5),
  resolution: z.enum(['360p', '480p', '720p', '768p', '1080p', '1K', '2K', '4K']).default('720p'),
  aspect_ratio: z.enum(['16:9', '9:16', '1:1', '4:3', '3:4', '3:2', '2:3', '21:9', '9:21']).default('16:9'),
  frame_images: z.array(frame).optional(),
  input_references: z.array(z.union([part('image_url'), part('video_url'), part('audio_url')])).optional(),
  generate_audio: z.boolean().optional(),
  seed: z.int().optional(),
  user: z.string().optional(),
  callback_url: z.url().optional(),
});

const detailSchema = z.object(rendered);
type OpenRouterJob = Job<z.infer<typeof detailSchema>>;

const prefix = '/openrouter/api/v1';
const dayMs = 86_400_000;
const dollarsPerSecond = 0.05;
/** Of the workspace. */
const signingSecret = 'openrouter-signing-secret';

function sign(body: string): Record<string, string> {
  const time = Math.floor(Date.now() / 1000);
  const signature = createHmac('sha256', signingSecret).update(`${time},${body}`).digest('hex');
  return { 'x-openrouter-signature': `t=${time},v1=${signature}` };
}

export function createOpenRouterDialect(world: World): Dialect {
  const desk = new JobDesk(world, {
    name: 'openrouter',
    problems,
    detail: detailSchema,
    recordKeptMs: 7 * dayMs,
    callbackBody: (task) => news(new Job(task, world)),
    callbackHeaders: sign,
  });
  return createDialect(desk, {
    prefix,
    noSuchRoute: () => refuse(404, '', 'Not Found'),
    routes: {
      'POST /videos': ({ request }) => {
        const body = check(bodySchema, parseJson(request.body), ({ path, reason }) =>
          refuse(400, '', `${path}: ${reason}`),
        );
        return desk.create(request, body, async (submission) => {
          const side = body.resolution === '1K' ? 1080 : linesOf(body.resolution);
          const detail = { ...sizeOf(side, body.aspect_ratio), seconds: body.duration, images: 0 };
          const id = `gen-vid-${randomUUID()}`;
          const order = { id, expiresAfterMs: dayMs, detail, callbackUrl: body.callback_url };
          const task = await desk.accept(submission, order);
          return json(202, { id, polling_url: `/api/v1/videos/${task.id}`, status: 'pending' });
        });
      },
      'GET /videos/:id': (call) => desk.about('poll', call, shown(world, present)),
      'GET /videos/:id/content': (call) =>
        desk.about('media', call, { found: (task) => deliver(new Job(task, world)) }),
    },
  });
}

const wordFor = phaseWords('pending in_progress completed failed expired cancelled uploading');

function present(job: OpenRouterJob): Record<string, unknown> {
  const { task, detail, phase, faults, world } = job;
  const about = { id: task.id, polling_url: `/api/v1/videos/${task.id}`, status: wordFor(phase) };
  const error = faults.has('moderation-in-task') ? 'Output violates the content policy' : 'It failed.';
  if (phase === 'failed') return { ...about, error };
  if (phase !== 'succeeded') return about;
  const file = `${world.parts.origin}${prefix}/videos/${task.id}/content?index=0`;
  const usage = job.reported({ cost: job.billed(dollarsPerSecond * detail.seconds), is_byok: false });
  return { ...about, unsigned_urls: faults.has('missing-url') ? [] : [file], usage };
}

function deliver(job: OpenRouterJob): Reply {
  if (job.phase !== 'succeeded') return problems['not-found'].reply(job.now);
  if (job.faults.has('url-403')) return problems.forbidden.reply(job.now);
  return bytes(200, job.file(), { 'content-type': 'video/mp4' });
}

/** Ends alone are announced. */
function news(job: OpenRouterJob): unknown {
  if (!isFinal(job.phase)) return undefined;
  const created_at = new Date(job.now).toISOString();
  const data = { ...present(job), model: job.task.model };
  return { type: `video.generation.${wordFor(job.phase)}`, created_at, data };
}
