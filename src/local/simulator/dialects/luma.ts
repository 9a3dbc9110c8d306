import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Problems } from '../desk.ts';
import { createDialect } from '../dialect.ts';
import type { Dialect } from '../dialect.ts';
import { Job, rendered, shown } from '../job.ts';
import { JobDesk } from '../job-desk.ts';
import { areaOf, linesOf, sizeOf } from '../sizes.ts';
import { phaseWords } from '../task.ts';
import { check, json, parseJson, refusals } from '../wire.ts';
import type { World } from '../world.ts';

/** Luma's Agents API: videos of Ray 3.2 and images of Uni-1. Nothing is listed, cancelled or called back. */

const refuse = refusals(({ status, message: detail }) => json(status, { detail }));

/** The content is inspected when the job runs. */
const problems = {
  unauthorized: refuse(401, '', 'Invalid or missing API key'),
  forbidden: refuse(403, '', 'Access denied'),
  'not-found': refuse(404, '', 'Generation not found'),
  'rate-limited': refuse(429, '', 'Rate limit exceeded'),
  'quota-exhausted': refuse(402, '', 'Insufficient balance'),
  internal: refuse(500, '', 'Internal server error'),
  unavailable: refuse(503, '', 'Image ingestion unavailable'),
} satisfies Problems;

const media = z.strictObject({
  url: z.url({ protocol: /^https?$/ }).optional(),
  data: z.base64().optional(),
  media_type: z.string().optional(),
});
const video = z.strictObject({
  resolution: z.enum(['360p', '540p', '720p', '1080p']).default('720p'),
  duration: z.enum(['5s', '10s']).default('5s'),
  start_frame: media.optional(),
  end_frame: media.optional(),
  keyframes: z.array(media).optional(),
  keyframe_indexes: z.array(z.int().min(0).max(240)).optional(),
  loop: z.boolean().optional(),
});
const bodySchema = z.strictObject({
  model: z.string(),
  type: z.enum(['video', 'video_edit', 'video_reframe', 'image', 'image_edit']),
  prompt: z.string().min(1),
  aspect_ratio: z.string().optional(),
  user_id: z.string().optional(),
  source: media.optional(),
  video: video.prefault({}),
  image_ref: z.array(media).max(9).optional(),
  output_format: z.enum(['png', 'jpeg']).optional(),
  style: z.enum(['auto', 'manga']).optional(),
  web_search: z.boolean().optional(),
});

const detailSchema = z.object({ ...rendered, type: z.string() });
type LumaDetail = z.infer<typeof detailSchema>;

function settle({ type, video, aspect_ratio: ratio }: z.infer<typeof bodySchema>): LumaDetail {
  if (type.startsWith('image')) return { type, ...areaOf(2048, ratio ?? '1:1'), seconds: 0, images: 1 };
  const seconds = Number.parseInt(video.duration, 10);
  return { type, ...sizeOf(linesOf(video.resolution), ratio ?? '16:9'), seconds, images: 0 };
}

const linkSeconds = 3600;
const dayMs = 86_400_000;

export function createLumaDialect(world: World): Dialect {
  const desk = new JobDesk(world, { name: 'luma', problems, detail: detailSchema, recordKeptMs: 7 * dayMs });
  return createDialect(desk, {
    prefix: '/luma/v1',
    noSuchRoute: ({ method, path }) => refuse(404, '', `Not Found: ${method} ${path}`),
    routes: {
      'POST /generations': ({ request }) => {
        const body = check(bodySchema, parseJson(request.body), ({ path, reason }) =>
          refuse(400, '', `${path}: ${reason}`),
        );
        return desk.create(request, body, async (submission) => {
          const order = { id: randomUUID(), expiresAfterMs: dayMs, detail: settle(body) };
          return json(201, present(new Job(await desk.accept(submission, order), world)));
        });
      },
      'GET /generations/:id': (call) => desk.about('poll', call, shown(world, present)),
    },
  });
}

/** Nothing cancels. */
const wordFor = phaseWords('queued processing completed failed failed failed grading');

function present(job: Job<LumaDetail>): Record<string, unknown> {
  const { task, detail, phase, faults, now } = job;
  const { id, model, createdAt } = task;
  const state = wordFor(phase);
  const about = { id, created_at: new Date(createdAt).toISOString(), model, type: detail.type, state };
  if (state === 'failed') {
    const [failure_code, failure_reason] = faults.has('moderation-in-task')
      ? ['content_moderated', 'The prompt was flagged.']
      : ['generation_failed', 'The model failed.'];
    return { ...about, failure_code, failure_reason };
  }
  // Each answer signs the link anew.
  const urls = phase === 'succeeded' ? job.links({ lifetimeSeconds: linkSeconds, from: now }) : [];
  const type = detail.images === 0 ? 'video' : 'image';
  return { ...about, output: urls.map((url) => ({ type, url })) };
}
