import { createHmac, randomUUID } from 'node:crypto';
import { z } from 'zod';
import { createDialect } from '../dialect.ts';
import type { Dialect } from '../dialect.ts';
import type { Problem } from '../disturb.ts';
import { FaultSet } from '../fault.ts';
import { JobDesk } from '../job-desk.ts';
import { shapeOfSide } from '../shape.ts';
import { isFinal, momentOf } from '../task.ts';
import type { Task } from '../task.ts';
import { bytes, check, json, parseJson, WireError } from '../wire.ts';
import type { Mistake, Reply } from '../wire.ts';
import type { World } from '../world.ts';

/** OpenRouter's videos. Nothing is listed or cancelled; the file is delivered for the key alone. */

class OpenRouterError extends WireError {
  readonly status: number;
  readonly metadata: Readonly<Record<string, unknown>> | undefined;

  constructor(status: number, message: string, metadata?: Readonly<Record<string, unknown>>) {
    super(message);
    this.status = status;
    this.metadata = metadata;
  }

  reply(): Reply {
    const { status: code, message, metadata } = this;
    return json(code, { error: { code, message, metadata } });
  }
}

const problems: Readonly<Record<Problem, OpenRouterError>> = {
  unauthorized: new OpenRouterError(401, 'No auth credentials found'),
  forbidden: new OpenRouterError(403, 'The key may not use this model.'),
  'not-found': new OpenRouterError(404, 'Video generation not found'),
  'rate-limited': new OpenRouterError(429, 'Rate limit exceeded'),
  'quota-exhausted': new OpenRouterError(402, 'Insufficient credits'),
  moderated: new OpenRouterError(403, 'The input was flagged.', {
    reasons: ['violence'],
    flagged_input: 'a boat',
  }),
  internal: new OpenRouterError(500, 'Internal Server Error'),
  unavailable: new OpenRouterError(503, 'No provider is available'),
};

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

const detailSchema = z.object({ width: z.number(), height: z.number(), seconds: z.number() });
type OpenRouterTask = Task<z.infer<typeof detailSchema>>;

const refuse = ({ path, reason }: Mistake) => new OpenRouterError(400, `${path}: ${reason}`);

const prefix = '/openrouter/api/v1';
const dayMs = 86_400_000;
const classes: Readonly<Record<string, number>> = { '1K': 1080, '2K': 1440, '4K': 2160 };
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
    callbackBody: (task) => news(task, world),
    callbackHeaders: sign,
  });
  return createDialect(desk, {
    prefix,
    noSuchRoute: () => new OpenRouterError(404, 'Not Found'),
    routes: {
      'POST /videos': ({ request }) => {
        const body = check(bodySchema, parseJson(request.body), refuse);
        return desk.create(request, body, async (submission) => {
          const side = classes[body.resolution] ?? Number.parseInt(body.resolution, 10);
          const detail = { ...shapeOfSide(side, body.aspect_ratio), seconds: body.duration };
          const id = `gen-vid-${randomUUID()}`;
          const order = { id, expiresAfterMs: dayMs, detail, callbackUrl: body.callback_url };
          const task = await desk.accept(submission, order);
          return json(202, { id, polling_url: `/api/v1/videos/${task.id}`, status: 'pending' });
        });
      },
      'GET /videos/:id': (call) =>
        desk.about('poll', call, { found: (task) => json(200, present(task, world)) }),
      'GET /videos/:id/content': (call) =>
        desk.about('media', call, { found: (task) => deliver(task, world) }),
    },
  });
}

const words = {
  queued: 'pending', running: 'in_progress', unknown: 'uploading', succeeded: 'completed', failed: 'failed',
  cancelled: 'cancelled', expired: 'expired',
} as const; // prettier-ignore

function present(task: OpenRouterTask, world: World): Record<string, unknown> {
  const { phase } = momentOf(task, world.now());
  const faults = FaultSet.of(task.faults);
  const about = { id: task.id, polling_url: `/api/v1/videos/${task.id}`, status: words[phase] };
  const error = faults.has('moderation-in-task') ? 'Output violates the content policy' : 'It failed.';
  if (phase === 'failed') return { ...about, error };
  if (phase !== 'succeeded') return about;
  const cost = dollarsPerSecond * task.detail.seconds * faults.usageFactor();
  const file = `${world.parts.origin}${prefix}/videos/${task.id}/content?index=0`;
  const usage = faults.has('missing-usage') ? {} : { usage: { cost, is_byok: false } };
  return { ...about, unsigned_urls: faults.has('missing-url') ? [] : [file], ...usage };
}

function deliver(task: OpenRouterTask, world: World): Reply {
  const faults = FaultSet.of(task.faults);
  if (momentOf(task, world.now()).phase !== 'succeeded') return problems['not-found'].reply();
  if (faults.has('url-403')) return problems.forbidden.reply();
  const file = world.parts.media.render(world.video(task.detail, 0, faults));
  return bytes(200, file, { 'content-type': 'video/mp4' });
}

/** Ends alone are announced. */
function news(task: OpenRouterTask, world: World): unknown {
  const { phase } = momentOf(task, world.now());
  if (!isFinal(phase)) return undefined;
  const created_at = new Date(world.now()).toISOString();
  return {
    type: `video.generation.${words[phase]}`,
    created_at,
    data: { ...present(task, world), model: task.model },
  };
}
