import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { createDialect } from '../dialect.ts';
import type { Dialect } from '../dialect.ts';
import type { Problem } from '../disturb.ts';
import { FaultSet } from '../fault.ts';
import { JobDesk } from '../job-desk.ts';
import { shapeOfSide, shapeOfSquare } from '../shape.ts';
import { momentOf } from '../task.ts';
import type { Task } from '../task.ts';
import { check, json, parseJson, WireError } from '../wire.ts';
import type { Reply } from '../wire.ts';
import type { World } from '../world.ts';

/** Luma's Agents API: videos of Ray 3.2 and images of Uni-1. Nothing is listed, cancelled or called back. */

class LumaError extends WireError {
  readonly status: number;

  constructor(status: number, detail: string) {
    super(detail);
    this.status = status;
  }

  reply(): Reply {
    return json(this.status, { detail: this.message });
  }
}

/** The content is inspected when the job runs. */
const problems: Readonly<Record<Exclude<Problem, 'moderated'>, LumaError>> = {
  unauthorized: new LumaError(401, 'Invalid or missing API key'),
  forbidden: new LumaError(403, 'Access denied'),
  'not-found': new LumaError(404, 'Generation not found'),
  'rate-limited': new LumaError(429, 'Rate limit exceeded'),
  'quota-exhausted': new LumaError(402, 'Insufficient balance'),
  internal: new LumaError(500, 'Internal server error'),
  unavailable: new LumaError(503, 'Image ingestion unavailable'),
};

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

const detailSchema = z.object({
  type: z.string(),
  width: z.number(),
  height: z.number(),
  seconds: z.number(),
});
type LumaTask = Task<z.infer<typeof detailSchema>>;

function settle({ type, video, aspect_ratio: ratio }: z.infer<typeof bodySchema>): LumaTask['detail'] {
  if (type.startsWith('image')) return { type, ...shapeOfSquare(2048, ratio ?? '1:1'), seconds: 0 };
  const shape = shapeOfSide(Number.parseInt(video.resolution, 10), ratio ?? '16:9');
  return { type, ...shape, seconds: Number.parseInt(video.duration, 10) };
}

const linkSeconds = 3600;
const dayMs = 86_400_000;

export function createLumaDialect(world: World): Dialect {
  const desk = new JobDesk(world, { name: 'luma', problems, detail: detailSchema, recordKeptMs: 7 * dayMs });
  return createDialect(desk, {
    prefix: '/luma/v1',
    noSuchRoute: ({ method, path }) => new LumaError(404, `Not Found: ${method} ${path}`),
    routes: {
      'POST /generations': ({ request }) => {
        const body = check(
          bodySchema,
          parseJson(request.body),
          (wrong) => new LumaError(400, `${wrong.path}: ${wrong.reason}`),
        );
        return desk.create(request, body, async (submission) => {
          const order = { id: randomUUID(), expiresAfterMs: dayMs, detail: settle(body) };
          return json(201, present(await desk.accept(submission, order), world));
        });
      },
      'GET /generations/:id': (call) =>
        desk.about('poll', call, { found: (task) => json(200, present(task, world)) }),
    },
  });
}

function present(task: LumaTask, world: World): Record<string, unknown> {
  const { id, model, createdAt, detail } = task;
  const faults = FaultSet.of(task.faults);
  const { phase } = momentOf(task, world.now());
  const about = { id, created_at: new Date(createdAt).toISOString(), model, type: detail.type };
  switch (phase) {
    case 'queued':
      return { ...about, state: 'queued', output: [] };
    case 'running':
      return { ...about, state: 'processing', output: [] };
    case 'unknown':
      return { ...about, state: 'grading', output: [] };
    case 'succeeded':
      return {
        ...about,
        state: 'completed',
        output: faults.has('missing-url') ? [] : [outputOf(task, world)],
      };
    // Nothing cancels.
    case 'cancelled':
    case 'expired':
    case 'failed': {
      const [code, reason] = faults.has('moderation-in-task')
        ? ['content_moderated', 'The prompt was flagged.']
        : ['generation_failed', 'The model failed.'];
      return { ...about, state: 'failed', failure_code: code, failure_reason: reason };
    }
    default:
      return phase satisfies never;
  }
}

/** Each answer signs the link anew. */
function outputOf(task: LumaTask, world: World): Record<string, unknown> {
  const faults = FaultSet.of(task.faults);
  const isVideo = task.detail.type.startsWith('video');
  const medium = isVideo
    ? world.video(task.detail, 0, faults)
    : world.image(task.detail, { format: 'png', tint: 0, marked: false }, faults);
  return { type: isVideo ? 'video' : 'image', url: world.link(task, medium, world.now(), linkSeconds) };
}
