import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { areaOf, base64, dialect, json, linesOf, link, phaseWords, refusals, sizeOf } from '../engine.ts';
import { taken, word } from '../engine.ts';
import type { Job, Rendered } from '../engine.ts';

const refuse = refusals(({ status, message: detail }) => json(status, { detail }));

const media = z.strictObject({
  url: link.optional(),
  data: base64.optional(),
  ...taken({ text: 'media_type' }),
});
const video = z.strictObject({
  loop: z.boolean().default(false),
  resolution: word('360p 540p 720p 1080p').default('720p'),
  duration: word('5s 10s').default('5s'),
  start_frame: media.optional(),
  end_frame: media.optional(),
  keyframes: z.array(media).optional(),
  keyframe_indexes: z.array(z.int()).optional(),
});
const bodySchema = z.strictObject({
  ...taken({ text: 'user_id', flag: 'web_search' }),
  output_format: word('png jpeg').optional(),
  style: word('auto manga').optional(),
  model: z.string(),
  type: z.enum(['video', 'video_edit', 'video_reframe', 'image', 'image_edit']),
  prompt: z.string().min(1),
  aspect_ratio: z.string().optional(),
  source: media.optional(),
  video: video.prefault({}),
  image_ref: z.array(media).optional(),
});

type Detail = Rendered & { readonly type: string };

function settle({ type, video, aspect_ratio: ratio }: z.infer<typeof bodySchema>): Detail {
  if (video.loop && (type !== 'video' || video.duration === '10s' || video.keyframes !== undefined))
    throw refuse(422, '', 'loop: only a video of 5 seconds without keyframes can loop');
  if (type.startsWith('image')) return { type, ...areaOf(2048, ratio ?? '1:1'), seconds: 0, images: 1 };
  const seconds = Number.parseInt(video.duration, 10);
  return { type, ...sizeOf(linesOf(video.resolution), ratio ?? '16:9'), seconds };
}

const linkSeconds = 3600;

export const luma = dialect<Detail>({
  name: 'luma',
  prefix: '/luma/v1',
  expiresAfterMs: 86_400_000,
  mistake: ({ path, reason }) => refuse(400, '', `${path}: ${reason}`),
  problems: {
    unauthorized: refuse(401, '', 'Invalid or missing API key'),
    forbidden: refuse(403, '', 'Access denied'),
    'not-found': refuse(404, '', 'Generation not found'),
    'rate-limited': refuse(429, '', 'Rate limit exceeded'),
    'quota-exhausted': refuse(402, '', 'Insufficient balance'),
    internal: refuse(500, '', 'Internal server error'),
    unavailable: refuse(503, '', 'Image ingestion unavailable'),
  },
  routes: (desk) => ({
    'POST /generations': desk.creates(
      bodySchema,
      (body) => ({ id: randomUUID(), detail: settle(body) }),
      (job) => json(201, present(job)),
    ),
    'GET /generations/:id': desk.shows(present),
  }),
});

const wordFor = phaseWords('queued processing completed failed failed failed grading');

function present(job: Job<Detail>): object {
  const { id, model, detail, now } = job;
  const state = wordFor(job.phase);
  const created_at = new Date(job.task.createdAt).toISOString();
  const about = { id, created_at, model, type: detail.type, state };
  if (state === 'failed') {
    const [failure_code, failure_reason] = job.faults.has('moderation-in-task')
      ? ['content_moderated', 'The prompt was flagged.']
      : ['generation_failed', 'The model failed.'];
    return { ...about, failure_code, failure_reason };
  }
  const urls = state === 'completed' ? job.links({ lifetimeSeconds: linkSeconds, from: now }) : [];
  const type = detail.images === undefined ? 'video' : 'image';
  return { ...about, output: urls.map((url) => ({ type, url })) };
}
