import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { base64, check, json, linesOf, link, parseJson, phaseWords, sizeOf, word } from '../engine.ts';
import type { Call, Handler, Reply } from '../engine.ts';
import { bucketUri, fileUri, googleError, googleProblems, interactionError } from './google-task.ts';
import { mimeType } from './google-task.ts';
import type { GoogleDesk, GoogleDetail, GoogleJob } from './google-task.ts';

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
const tasks = word('text_to_video image_to_video reference_to_video edit extend upscale');
const labelKey = /^[a-z][a-z0-9_-]{0,62}$/;
const labelValue = /^[a-z0-9_-]{0,63}$/;
const format = z.strictObject({
  type: z.literal('video'),
  delivery: z.enum(['uri', 'inline']).default('inline'),
  gcs_uri: z.string().startsWith('gs://').optional(),
  aspect_ratio: z.string().default('16:9'),
  resolution: word('360p 720p 1080p 4k').default('720p'),
  duration: z.string().regex(/^\d+(?:\.\d+)?s$/, 'must be a duration like "5s"').default('8s'),
}); // prettier-ignore
const bodySchema = z.strictObject({
  model: z.string().min(1),
  input: z.union([z.string().min(1), z.array(part).min(1)]),
  background: z.literal(true),
  store: z.literal(true).optional(),
  response_format: format.prefault({ type: 'video' }),
  generation_config: z
    .strictObject({ video_config: z.strictObject({ task: tasks.optional() }).optional() })
    .optional(),
  labels: z.record(z.string().regex(labelKey), z.string().regex(labelValue)).optional(),
  webhook_config: z
    .strictObject({ uris: z.array(link).min(1), user_metadata: z.record(z.string(), z.unknown()).optional() })
    .optional(),
});
type Body = z.infer<typeof bodySchema>;

export function omniRoutes(desk: GoogleDesk, path: string, vertex: boolean): Record<string, Handler> {
  /** If there is no such interaction, Vertex responds with 404. The Gemini API calls the name invalid. */
  const missing = (id: string) => () =>
    vertex
      ? googleError(404, 'NOT_FOUND', `Interaction ${id} was not found.`).reply(desk.world.now())
      : interactionError(400, 'invalid_request', `Invalid interaction name: ${id}`).reply(desk.world.now());
  const about = (stage: 'poll' | 'delete', { request, id }: Call, found: (job: GoogleJob) => GoogleJob) => {
    const known = desk.find(id);
    const job = known?.detail.api === 'omni' ? known : undefined;
    return desk.about(stage, { request, job }, (one) => json(200, present(found(one))), missing(id));
  };
  return {
    [`POST ${path}`]: ({ request }) => create(desk, request),
    [`GET ${path}/:id`]: (call) => about('poll', call, (job) => job),
    [`POST ${path}/:id/cancel`]: (call) =>
      about('delete', call, (job) => {
        if (job.isOver)
          throw interactionError(400, 'failed_precondition', 'The interaction has ended already.');
        return desk.cancel(job);
      }),
  };
}

function create(desk: GoogleDesk, request: Call['request']): Promise<Reply> {
  const body = check(bodySchema, parseJson(request.body), ({ path, reason }) =>
    interactionError(400, 'invalid_request', `Invalid value at '${path}': ${reason}`),
  );
  const parts = typeof body.input === 'string' ? [{ type: 'text' as const, text: body.input }] : body.input;
  const prompt = parts.flatMap((each) => (each.type === 'text' ? [each.text] : [])).join('\n');
  return desk.create(request, { model: body.model, prompt }, async (submission) => {
    if (!/^gemini-omni-\d/.test(submission.model)) throw googleProblems['not-found'];
    const id = `v1_${randomBytes(24).toString('base64url')}`;
    const input = Math.ceil(prompt.length / 4) + parts.filter(({ type }) => type !== 'text').length * 258;
    const order = { id, detail: settle(body, id, input), callbackUrl: body.webhook_config?.uris[0] };
    return json(200, present(await desk.accept(submission, order)));
  });
}

function settle(body: Body, name: string, inputTokens: number): GoogleDetail {
  const { delivery, gcs_uri: bucket, aspect_ratio, resolution, duration } = body.response_format;
  const seconds = Number(duration.slice(0, -1));
  return {
    ...sizeOf(linesOf(resolution), aspect_ratio),
    seconds,
    api: 'omni',
    name,
    samples: 1,
    // 5,800 tokens per second at 720p, and proportionally more or fewer at other numbers of lines.
    tokens: [inputTokens, Math.round((seconds * linesOf(resolution) * 5800) / 720)],
    delivery: delivery === 'uri' && bucket !== undefined ? 'bucket' : delivery,
    bucket,
    labels: body.labels,
    userMetadata: body.webhook_config?.user_metadata,
  };
}

const wordFor = phaseWords('in_progress in_progress completed failed incomplete cancelled post_processing');

function present(job: GoogleJob): object {
  const { id, task, detail, phase, since, faults, model } = job;
  const [created, updated] = [task.createdAt, since].map((time) => new Date(time).toISOString());
  const base = { id, created, updated, model, labels: detail.labels };
  if (phase === 'failed') return { ...base, ...failureOf(job) };
  const status = wordFor(phase);
  if (phase !== 'succeeded') return { ...base, status };
  const [input, output] = detail.tokens ?? [0, 0];
  const content = faults.has('missing-url') ? [] : [videoPart(job)];
  const usage = job.reported(usageOf(input, Math.round(job.billed(output))));
  return { ...base, status, steps: [{ type: 'model_output', content }], usage };
}

function videoPart(job: GoogleJob): object {
  const { delivery } = job.detail;
  if (delivery === 'inline')
    return { type: 'video', data: job.file().toString('base64'), mime_type: mimeType };
  return { type: 'video', uri: delivery === 'bucket' ? bucketUri(job) : fileUri(job), mime_type: mimeType };
}

/**
 * The step that failed contains the error or, with `docs-shape`, the interaction lists it. An interaction rejected for
 * safety is `completed` with only text or, with `docs-shape`, failed.
 */
function failureOf({ detail, faults }: GoogleJob): object {
  const failed = (error: object) => ({ status: 'failed', steps: [{ type: 'model_output', error }] });
  if (!faults.has('moderation-in-task')) {
    const status = faults.text('failed') ?? 'failed';
    const message = 'The video could not be generated.';
    if (status !== 'failed') return { status };
    if (faults.has('docs-shape'))
      return { status, errors: [{ code: 'https://errors.example/internal', message }] };
    return failed({ code: 13, message });
  }
  const text = 'I cannot create this video, because it violates the safety policy.';
  if (faults.has('docs-shape'))
    return failed({ code: 7, message: 'Blocked by safety', details: [{ reason: 'PROHIBITED_CONTENT' }] });
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
