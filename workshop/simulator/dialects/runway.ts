import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { check, dialect, empty, json, linesOf, pairIn, parseJson, phaseWords } from '../engine.ts';
import { refusals, sizeOf, taken } from '../engine.ts';
import type { Call, Desk, Handler, Job, Mistake, Rendered, Reply } from '../engine.ts';
import { areKnownUploads, uploadKeyOf, uploadRoutesOf } from './runway-files.ts';

const version = '2024-11-06';
/** The vendor does not document how long it keeps records. In the simulator, they outlive every test. */
const keptMs = 30 * 86_400_000;
const linkSeconds = 86_400;
const slots = 20;
const creditsPerSecond = 20;
const creditsPerImage = 5;
const creditBalance = 12_500;

const refuse = refusals(({ status, code, message, param }) => {
  if (code === '') return json(status, { error: message });
  const issues = [{ path: param.split('.'), message }];
  return json(status, { error: 'Validation of body failed', docUrl: 'https://docs.example/errors', issues });
});
const mistake = ({ path, reason }: Mistake) => refuse(400, 'field', reason, path);

const uri = z
  .string()
  .regex(/^(?:https:\/\/|runway:\/\/|data:[\w.+/-]+;base64,)./, 'Only HTTPS URLs are allowed.');
const references = z.array(z.strictObject({ ...taken({ text: 'tag subject' }), uri }));
const at = z.number().nonnegative();
const keyframe = z.strictObject({
  ...taken({ number: 'seconds at' }),
  uri,
  range: z.strictObject({ start_seconds: at, end_seconds: at }).optional(),
});
const runwayBody = z.strictObject({
  ...taken({
    text: 'targetAspectRatio negativePrompt outputFormat proresProfile promptExpansionMode quality background',
    flag: 'audio grounding edit',
  }),
  seed: z.int().max(4_294_967_295).optional(),
  model: z.string().min(1),
  mode: z.enum(['reference', 'extend', 'edit']).optional(),
  promptText: z.string().min(1).optional(),
  promptImage: z
    .union([uri, z.array(z.strictObject({ uri, position: z.enum(['first', 'last']).optional() })).min(1)])
    .optional(),
  promptVideo: uri.optional(),
  videoUri: uri.optional(),
  ratio: z.string().regex(/^(?:\d+:\d+|adaptive|auto(?:_\w+)?)$/, 'Invalid enum value').optional(),
  resolution: z.string().regex(/^\d+[kp]$/i, 'Invalid enum value').optional(),
  duration: z.union([z.number(), z.literal('auto')]).optional(),
  contentModeration: z.strictObject(taken({ text: 'publicFigureThreshold' })).optional(),
  references: references.optional(),
  referenceImages: references.optional(),
  referenceVideos: z.array(z.strictObject({ type: z.literal('video').optional(), uri })).optional(),
  referenceAudio: z.array(z.strictObject({ type: z.literal('audio'), uri })).optional(),
  keyframes: z.array(keyframe).optional(),
  outputCount: z.int().min(1).optional(),
}); // prettier-ignore
type Body = z.infer<typeof runwayBody>;

type Detail = Rendered & { readonly credits: number };

const paths = ['text_to_video', 'image_to_video', 'video_to_video', 'text_to_image'];

export const runway = dialect<Detail>({
  name: 'runway',
  prefix: '/runway',
  keptMs,
  expiresAfterMs: 2 * keptMs,
  mistake,
  keyOf: uploadKeyOf,
  noSuchRoute: ({ method, path }) =>
    paths.some((known) => path === `/v1/${known}`)
      ? refuse(405, '', 'Method not allowed.')
      : refuse(404, '', `Cannot ${method} ${path}`),
  // There is no `moderated`, because content is inspected only when the job runs. A 429 always means that the daily
  // quota is used up.
  problems: {
    unauthorized: refuse(401, '', 'The API key is invalid or disabled.'),
    forbidden: refuse(403, '', 'You do not have access to this resource.'),
    'not-found': refuse(404, '', 'Task not found.'),
    'rate-limited': refuse(429, '', 'You have reached the daily generation limit of this model.'),
    'quota-exhausted': refuse(400, '', 'You do not have enough credits to run this task.'),
    internal: refuse(500, '', 'Internal server error.'),
    unavailable: refuse(503, '', 'Service unavailable.'),
  },
  routes: (desk) => ({
    ...Object.fromEntries(
      paths.map((path) => [`POST /v1/${path}`, versioned((call) => submit(desk, call, path))]),
    ),
    'GET /v1/organization': versioned(() =>
      json(200, {
        creditBalance,
        tier: { maxMonthlyCreditSpend: creditBalance, models: {} },
        usage: { models: {} },
      }),
    ),
    'POST /v1/uploads': versioned(uploadRoutesOf(desk, uploadRefusals).give),
    'POST /storage/:id': uploadRoutesOf(desk, uploadRefusals).store,
    'GET /v1/tasks/:id': versioned(desk.shows((job) => present(job, runningBefore(desk, job) >= slots))),
    'DELETE /v1/tasks/:id': versioned((call) =>
      desk.about('delete', call, (job) => {
        // Afterwards, the job no longer exists. With `docs-shape`, it appears as CANCELLED.
        if (job.isOver || !job.faults.has('docs-shape')) desk.remove(job);
        else desk.cancel(job);
        return empty(204);
      }),
    ),
  }),
});

const uploadRefusals = { mistake, refused: refuse(400, '', 'The policy does not allow this file.') };

function versioned(handle: Handler): Handler {
  return (call) => {
    if (call.request.headers['x-runway-version'] !== version)
      throw refuse(400, '', `The X-Runway-Version header is required: ${version}.`);
    return handle(call);
  };
}

const families =
  /^(?:gen4|aleph|veo|gemini_|gpt_|seed|happyhorse|wan|grok_|hailuo|h3_|kling|muse_|a_model_of_)/;
const outline = z.object({ model: z.string(), promptText: z.string().catch('') });

function submit(desk: Desk<Detail>, { request }: Call, path: string): Promise<Reply> {
  const { model, promptText: prompt } = desk.read(outline, request);
  return desk.create(request, { model, prompt }, async (submission) => {
    if (!families.test(submission.model)) throw refuse(400, 'field', 'Invalid discriminator value', 'model');
    const body = check(runwayBody, parseJson(request.body), mistake);
    if (!areKnownUploads(desk.world, request))
      throw refuse(400, '', 'An uploaded file does not exist or has expired.');
    const images = path === 'text_to_image' ? (body.outputCount ?? 1) : undefined;
    const asInput = path === 'video_to_video' ? submission.faults.number('input-seconds') : undefined;
    const asked = body.duration === 'auto' ? undefined : body.duration;
    const seconds = images === undefined ? (asked ?? asInput ?? 5) : 0;
    const credits = (images ?? 0) * creditsPerImage + seconds * creditsPerSecond;
    const detail = { ...sizeIn(body), seconds, images, credits };
    const job = await desk.accept(submission, { id: randomUUID(), detail });
    return json(200, { id: job.id, estimatedCost: job.reported({ credits }) });
  });
}

function sizeIn({ ratio = '1280:720', resolution = ratio.replace('auto_', '') }: Body) {
  const pair = pairIn(ratio);
  return pair !== undefined && pair.width > 64 ? pair : sizeOf(linesOf(resolution), ratio);
}

function runningBefore(desk: Desk<Detail>, { id, model, task }: Job<Detail>): number {
  const others = desk.newestFirst().filter((other) => other.model === model && other.id !== id);
  return others.filter((other) => other.task.createdAt <= task.createdAt && other.phase === 'running').length;
}

const wordFor = phaseWords('PENDING RUNNING SUCCEEDED FAILED FAILED CANCELLED POST_PROCESSING');

function present(job: Job<Detail>, isThrottled: boolean): object {
  const { task, phase, faults, now } = job;
  const { credits } = job.detail;
  const status = phase === 'queued' && isThrottled ? 'THROTTLED' : wordFor(phase);
  const base = { id: job.id, createdAt: new Date(task.createdAt).toISOString(), status };
  const cost = (amount: number) => job.reported({ credits: amount });
  if (phase === 'unknown') return base;
  // A job that has started is not refunded.
  if (phase === 'cancelled') return { ...base, cost: cost(job.since > job.startsAt ? credits : 0) };
  if (phase === 'succeeded') {
    const output = job.links({ lifetimeSeconds: linkSeconds, from: now });
    return { ...base, output, cost: cost(job.billed(credits)) };
  }
  // Jobs whose input is rejected are charged, as documented. Other failed jobs are free.
  const isInputRefused = faults.text('moderation-in-task') === 'input';
  if (job.isOver) return { ...base, ...failureOf(job), cost: cost(isInputRefused ? credits : 0) };
  const progress = phase === 'running' ? Math.round(job.progress() * 100) / 100 : undefined;
  return { ...base, estimatedCost: cost(credits), progress };
}

function failureOf({ faults }: Job<Detail>) {
  if (faults.text('moderation-in-task') === 'input')
    return { failure: 'The input did not pass content moderation.', failureCode: 'SAFETY.INPUT.TEXT' };
  if (faults.has('moderation-in-task'))
    return { failure: 'The output did not pass content moderation.', failureCode: 'SAFETY.OUTPUT.VIDEO' };
  const failureCode = faults.text('failed') ?? 'INTERNAL.BAD_OUTPUT.CODE01';
  return { failure: 'An unexpected error occurred.', failureCode };
}
