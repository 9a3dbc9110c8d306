import { createHmac, randomUUID } from 'node:crypto';
import { z } from 'zod';
import { bytes, dialect, json, linesOf, link, media, phaseWords, refusals, sizeOf } from '../engine.ts';
import { taken } from '../engine.ts';
import type { Job, Reply } from '../engine.ts';

const refuse = refusals(({ status, message }) => json(status, { error: { code: status, message } }));
const flagged = refusals(({ status: code, message }) => {
  const metadata = { reasons: ['violence'], flagged_input: 'a boat' };
  return json(code, { error: { code, message, metadata } });
});
const forbidden = refuse(403, '', 'The key may not use this model.');
const notFound = refuse(404, '', 'Video generation not found');

const part = <Type extends string>(type: Type) =>
  z.strictObject({ type: z.literal(type), [type]: z.strictObject({ url: media }) });
const frame = part('image_url').extend({ frame_type: z.enum(['first_frame', 'last_frame']) });
const bodySchema = z.strictObject({
  ...taken({ flag: 'generate_audio', int: 'seed', text: 'user' }),
  model: z.string().min(1),
  prompt: z.string().default(''),
  duration: z.int().positive().default(5),
  resolution: z
    .string()
    .regex(/^\d+[pK]$/)
    .default('720p'),
  aspect_ratio: z.string().default('16:9'),
  frame_images: z.array(frame).optional(),
  input_references: z.array(z.union([part('image_url'), part('video_url'), part('audio_url')])).optional(),
  callback_url: link.optional(),
});

const prefix = '/openrouter/api/v1';
const dollarsPerSecond = 0.05;
const signingSecret = 'openrouter-signing-secret';

export const openRouter = dialect({
  name: 'openrouter',
  prefix,
  expiresAfterMs: 86_400_000,
  mistake: ({ path, reason }) => refuse(400, '', `${path}: ${reason}`),
  problems: {
    unauthorized: refuse(401, '', 'No auth credentials found'),
    forbidden,
    'not-found': notFound,
    'rate-limited': refuse(429, '', 'Rate limit exceeded'),
    'quota-exhausted': refuse(402, '', 'Insufficient credits'),
    moderated: flagged(403, '', 'The input was flagged.'),
    internal: refuse(500, '', 'Internal Server Error'),
    unavailable: refuse(503, '', 'No provider is available'),
  },
  callbackBody(job) {
    if (!job.isOver) return undefined;
    const data = { ...present(job), model: job.model };
    const created_at = new Date(job.now).toISOString();
    return { type: `video.generation.${wordFor(job.phase)}`, created_at, data };
  },
  callbackHeaders(body) {
    const time = Math.floor(Date.now() / 1000);
    const signature = createHmac('sha256', signingSecret).update(`${time},${body}`).digest('hex');
    return { 'x-openrouter-signature': `t=${time},v1=${signature}` };
  },
  routes: (desk) => ({
    'POST /videos': desk.creates(
      bodySchema,
      ({ resolution, aspect_ratio, duration: seconds, callback_url: callbackUrl }) => {
        const side = resolution === '1K' ? 1080 : linesOf(resolution);
        const detail = { ...sizeOf(side, aspect_ratio), seconds };
        return { id: `gen-vid-${randomUUID()}`, detail, callbackUrl };
      },
      ({ id }) => json(202, { id, polling_url: `/api/v1/videos/${id}`, status: 'pending' }),
    ),
    'GET /videos/:id': desk.shows(present),
    'GET /videos/:id/content': (call) => desk.about('media', call, deliver),
  }),
});

const wordFor = phaseWords('pending in_progress completed failed expired cancelled uploading');

function present(job: Job): object {
  const { id, phase, faults, world } = job;
  const about = { id, polling_url: `/api/v1/videos/${id}`, status: wordFor(phase) };
  const error = faults.has('moderation-in-task') ? 'Output violates the content policy' : 'It failed.';
  if (phase === 'failed') return { ...about, error };
  if (phase !== 'succeeded') return about;
  const file = `${world.parts.origin}${prefix}/videos/${id}/content?index=0`;
  const usage = job.reported({ cost: job.billed(dollarsPerSecond * job.detail.seconds), is_byok: false });
  return { ...about, unsigned_urls: faults.has('missing-url') ? [] : [file], usage };
}

function deliver(job: Job): Reply {
  if (job.phase !== 'succeeded') throw notFound;
  if (job.world.refusesFile(job.task)) throw forbidden;
  return bytes(200, job.file(), { 'content-type': 'video/mp4' });
}
