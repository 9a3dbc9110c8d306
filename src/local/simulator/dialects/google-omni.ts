import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { Call } from '../dialect.ts';
import { Job } from '../job.ts';
import { linesOf, sizeOf } from '../sizes.ts';
import { isFinal } from '../task.ts';
import type { Task } from '../task.ts';
import { check, json, parseJson } from '../wire.ts';
import type { Reply } from '../wire.ts';
import {
  base64,
  bucketUri,
  expiresAfterMs,
  fileUri,
  googleError,
  googleProblems,
  interactionError,
  mimeType,
} from './google-task.ts';
import type { GoogleDesk, GoogleDetail, GoogleJob } from './google-task.ts';

/** Interactions: closed objects. */

const medium = {
  data: base64.optional(),
  uri: z.string().regex(/^(?:https?|gs):\/\/\S+$/, 'must be a URI').optional(),
  mime_type: z.string().regex(/^(?:image|video)\/[\w.+-]+$/),
}; // prettier-ignore
const part = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text'), text: z.string().min(1) }),
  z.strictObject({ type: z.literal('image'), ...medium }),
  z.strictObject({ type: z.literal('video'), ...medium }),
]);
const tasks = ['text_to_video', 'image_to_video', 'reference_to_video', 'edit', 'extend', 'upscale'] as const;
const labelKey = /^[a-z][a-z0-9_-]{0,62}$/;
const labelValue = /^[a-z0-9_-]{0,63}$/;
const format = z.strictObject({
  type: z.literal('video'),
  delivery: z.enum(['uri', 'inline']).default('inline'),
  gcs_uri: z.string().startsWith('gs://').optional(),
  aspect_ratio: z.enum(['16:9', '9:16']).default('16:9'),
  resolution: z.enum(['360p', '720p', '1080p', '4k']).default('720p'),
  duration: z.string().regex(/^\d+(?:\.\d+)?s$/, 'must be a duration like "5s"').default('8s'),
}); // prettier-ignore
const bodySchema = z.strictObject({
  model: z.string().min(1),
  input: z.union([z.string().min(1), z.array(part).min(1)]),
  /** The answer that waits for the whole rendering is not covered. */
  background: z.literal(true),
  store: z.literal(true).optional(),
  response_format: format.prefault({ type: 'video' }),
  generation_config: z
    .strictObject({ video_config: z.strictObject({ task: z.enum(tasks).optional() }).optional() })
    .optional(),
  labels: z.record(z.string().regex(labelKey), z.string().regex(labelValue)).optional(),
  webhook_config: z
    .strictObject({
      uris: z.array(z.url()).min(1),
      user_metadata: z.record(z.string(), z.unknown()).optional(),
    })
    .optional(),
});
type Body = z.infer<typeof bodySchema>;

export function omniRoutes(desk: GoogleDesk, path: string, vertex: boolean) {
  const { world } = desk;
  /** What is not there is a wrong name; Vertex answers 404. */
  const missing = (id: string) => () =>
    vertex
      ? googleError(404, 'NOT_FOUND', `Interaction ${id} was not found.`).reply(world.now())
      : interactionError(400, 'invalid_request', `Invalid interaction name: ${id}`).reply(world.now());
  const about = (
    stage: 'poll' | 'delete',
    { request, id }: Call,
    found: (task: Task<GoogleDetail>) => Reply,
  ) => {
    const known = desk.find(id);
    const task = known?.detail.api === 'omni' ? known : undefined;
    return desk.about(stage, { request, task }, { found, missing: missing(id) });
  };
  const answer = (task: Task<GoogleDetail>) => json(200, present(new Job(task, world)));
  return {
    [`POST ${path}`]: ({ request }: Call) => create(desk, request),
    [`GET ${path}/:id`]: (call: Call) => about('poll', call, answer),
    [`POST ${path}/:id/cancel`]: (call: Call) =>
      about('delete', call, (task) => {
        if (isFinal(new Job(task, world).phase))
          throw interactionError(400, 'failed_precondition', 'The interaction has ended already.');
        desk.cancel(task);
        return answer(task);
      }),
  };
}

function create(desk: GoogleDesk, request: Call['request']): Promise<Reply> {
  const { world } = desk;
  const body = check(bodySchema, parseJson(request.body), ({ path, reason }) =>
    interactionError(400, 'invalid_request', `Invalid value at '${path}': ${reason}`),
  );
  const parts = typeof body.input === 'string' ? [{ type: 'text' as const, text: body.input }] : body.input;
  const prompt = parts.flatMap((each) => (each.type === 'text' ? [each.text] : [])).join('\n');
  return desk.create(request, { model: body.model, prompt }, async (submission) => {
    if (!/^gemini-omni-\d/.test(submission.model)) throw googleProblems['not-found'];
    const id = `v1_${randomBytes(24).toString('base64url')}`;
    const input = Math.ceil(prompt.length / 4) + parts.filter(({ type }) => type !== 'text').length * 258;
    const order = { id, expiresAfterMs, detail: settle(body, id, input) };
    const task = await desk.accept(submission, { ...order, callbackUrl: body.webhook_config?.uris[0] });
    return json(200, present(new Job(task, world)));
  });
}

function settle(body: Body, name: string, inputTokens: number): GoogleDetail {
  const { delivery, gcs_uri: bucket, aspect_ratio, resolution, duration } = body.response_format;
  const seconds = Number(duration.slice(0, -1));
  return {
    ...sizeOf(linesOf(resolution), aspect_ratio),
    seconds,
    images: 0,
    api: 'omni',
    name,
    samples: 1,
    // In proportion to the lines: 5,800 for a second of 720p.
    tokens: [inputTokens, Math.round((seconds * linesOf(resolution) * 5800) / 720)],
    delivery: delivery === 'uri' && bucket !== undefined ? 'bucket' : delivery,
    bucket,
    labels: body.labels,
    userMetadata: body.webhook_config?.user_metadata,
  };
}

function present(job: GoogleJob): Record<string, unknown> {
  const { task, detail, phase, since, faults } = job;
  const base = {
    id: task.id,
    created: new Date(task.createdAt).toISOString(),
    updated: new Date(since).toISOString(),
    model: task.model,
    labels: detail.labels,
  };
  switch (phase) {
    case 'queued':
    case 'running':
      return { ...base, status: 'in_progress' };
    case 'unknown':
      return { ...base, status: 'post_processing' };
    case 'cancelled':
      return { ...base, status: 'cancelled' };
    case 'expired':
      return { ...base, status: 'incomplete' };
    case 'failed':
      return { ...base, ...failureOf(job) };
    case 'succeeded': {
      const [input, output] = detail.tokens ?? [0, 0];
      const content = faults.has('missing-url') ? [] : [videoPart(job)];
      const usage = job.reported(usageOf(input, Math.round(job.billed(output))));
      return { ...base, status: 'completed', steps: [{ type: 'model_output', content }], usage };
    }
  }
}

function videoPart(job: GoogleJob): object {
  const { delivery } = job.detail;
  if (delivery === 'inline')
    return { type: 'video', data: job.file().toString('base64'), mime_type: mimeType };
  return { type: 'video', uri: delivery === 'bucket' ? bucketUri(job) : fileUri(job), mime_type: mimeType };
}

/** What was refused for safety is completed, with words only; `docs-shape`: it failed, with a code. */
function failureOf({ detail, faults }: GoogleJob): object {
  if (!faults.has('moderation-in-task')) {
    const status = faults.text('failed') ?? 'failed';
    const error = { code: 'internal', message: 'The video could not be generated.' };
    return status === 'failed' ? { status, error } : { status };
  }
  const text = 'I cannot create this video, because it violates the safety policy.';
  if (faults.has('docs-shape')) return { status: 'failed', error: { code: 'SAFETY', message: text } };
  const [input = 0] = detail.tokens ?? [];
  const { output_tokens_by_modality: _none, ...usage } = usageOf(input, 20);
  return { status: 'completed', steps: [{ type: 'model_output', content: [{ type: 'text', text }] }], usage };
}

function usageOf(input: number, output: number) {
  return {
    total_input_tokens: input,
    total_output_tokens: output,
    output_tokens_by_modality: [{ modality: 'video', tokens: output }],
    total_tokens: input + output,
  };
}
