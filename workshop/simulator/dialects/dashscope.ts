import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { dialect, json, linesOf, pageNumber, pairIn, phaseWords, refusals, sizeOf, word } from '../engine.ts';
import type { Call, Desk, Job, Reply, Submission } from '../engine.ts';

const servicesPath = '/services/aigc/';
/** A record is kept for one day after submission, whatever its state. */
const keptMs = 86_400_000;
const pageSizeMax = 100;
const multimodal = 'multimodal-generation/generation';
const videoServices = ['video-generation/video-synthesis', 'image2video/video-synthesis'];
const imageServices = [
  'text2image/image-synthesis',
  'image2image/image-synthesis',
  'image-generation/generation',
];

const refuse = refusals(({ status, code, message }) =>
  json(status, { request_id: randomUUID(), code, message }),
);
const invalid = (message: string) => refuse(400, 'InvalidParameter', message);
const outputRefused = refuse(400, 'DataInspectionFailed', 'Green net check failed for output video');
const internal = refuse(500, 'InternalError', 'An internal error has occured, please try again later.');
const noModel = refuse(404, 'ModelNotFound', 'Model can not be found.');

type Detail = ReturnType<typeof settle>;

export const dashScope = dialect<Detail>({
  name: 'dashscope',
  prefix: '/dashscope/api/v1',
  keptMs,
  knownForMs: keptMs,
  mistake: ({ path }) =>
    invalid(`Required body invalid, please check the request body format. ${path}`.trim()),
  noSuchRoute: ({ method, path }) =>
    method === 'POST' && path.startsWith(servicesPath)
      ? invalid('url error, please check url！')
      : refuse(404, 'NotFound', `No such operation: ${method} ${path}.`),
  problems: {
    unauthorized: refuse(401, 'InvalidApiKey', 'Invalid API-key provided.'),
    forbidden: refuse(403, 'Model.AccessDenied', 'Model access denied.'),
    'not-found': noModel,
    'rate-limited': refuse(429, 'Throttling.RateQuota', 'Requests rate limit exceeded.'),
    'quota-exhausted': refuse(429, 'PostpaidBillOverdue', 'The postpaid bill is overdue.'),
    moderated: refuse(400, 'DataInspectionFailed', 'Input data may contain inappropriate content.'),
    internal,
    unavailable: refuse(503, 'ModelUnavailable', 'Model is unavailable, please try again later.'),
  },
  routes: (desk) => ({
    ...Object.fromEntries(
      [...videoServices, ...imageServices, multimodal].map((service) => [
        `POST ${servicesPath}${service}`,
        (call: Call) => submit(desk, call, service),
      ]),
    ),
    'GET /tasks/?': (call) => list(desk, call),
    'GET /tasks/:id': (call) =>
      desk.about(
        'poll',
        call,
        (job) => json(200, present(job)),
        () => json(200, { request_id: randomUUID(), output: { task_id: call.id, task_status: 'UNKNOWN' } }),
      ),
    'POST /tasks/:id/cancel': (call) => cancel(desk, call),
  }),
});

const message = z.object({
  role: z.string(),
  content: z.array(z.object({ text: z.string().optional(), image: z.string().optional() })).min(1),
});
const bodySchema = z.object({
  model: z.string().min(1),
  input: z.looseObject({
    prompt: z.string().optional(),
    messages: z.array(message).min(1).optional(),
    media: z.array(z.looseObject({ type: z.string() })).optional(),
  }),
  parameters: z.record(z.string(), z.unknown()).default({}),
});
type Body = z.infer<typeof bodySchema>;
const parametersSchema = z.object({
  size: z.string().regex(/^\d{2,5}\*\d{2,5}$/, 'is not supported').optional(),
  resolution: word('480P 720P 1080P').default('720P'),
  ratio: z.string().default('adaptive'),
  duration: z.int().default(5),
  n: z.int().min(1).default(1),
  seed: z.int().optional(),
  prompt_extend: z.boolean().default(true),
  watermark: z.boolean().default(false),
  audio: z.boolean().optional(),
}); // prettier-ignore

function submit(desk: Desk<Detail>, { request }: Call, service: string): Promise<Reply> {
  const isSynchronous = service === multimodal;
  const isAsynchronous = request.headers['x-dashscope-async'] === 'enable';
  if (isAsynchronous === isSynchronous) {
    const kind = isSynchronous ? 'asynchronous' : 'synchronous';
    throw refuse(403, 'AccessDenied', `current user api does not support ${kind} calls.`);
  }
  const body = desk.read(bodySchema, request);
  const { prompt, messages } = body.input;
  const texts = (messages ?? []).flatMap(({ content }) => content.flatMap(({ text }) => text ?? []));
  return desk.create(
    request,
    { model: body.model, prompt: prompt ?? texts.join('\n') },
    async (submission) => {
      if (!/^(?:wanx?\d|happyhorse-\d|qwen-image)/.test(submission.model)) throw noModel;
      if (isSynchronous && messages === undefined) throw invalid('input.messages is required.');
      const order = { id: randomUUID(), detail: settle(body, service, submission) };
      if (isSynchronous) {
        // In synchronous mode, there is no task to poll, so the response itself reports the error.
        if (order.detail.refusal !== undefined) throw invalid(order.detail.refusal);
        const job = await desk.paint(submission, order, outputRefused);
        const usage = job.reported(usageOf(job));
        return json(200, { output: { choices: chatChoices(job) }, usage, request_id: randomUUID() });
      }
      const job = await desk.accept(submission, order);
      const output = { task_id: job.id, task_status: wordOf(job) };
      return json(200, { request_id: randomUUID(), output });
    },
  );
}

const videoTypes = ['reference_video', 'first_clip', 'video'];

function settle({ input, parameters: given }: Body, service: string, { model, faults }: Submission) {
  const read = parametersSchema.safeParse(given);
  const [issue] = read.error?.issues ?? [];
  const parameters = read.data ?? parametersSchema.parse({});
  const isVideo = videoServices.includes(service);
  const { resolution, duration, n, size = isVideo ? '' : '1024*1024' } = parameters;
  const ratio = parameters.ratio === 'adaptive' ? (faults.text('ratio') ?? '16:9') : parameters.ratio;
  const hasVideo = (input.media ?? []).some(({ type }) => videoTypes.includes(type));
  const named = pairIn(size);
  return {
    ...(named ?? sizeOf(linesOf(resolution), ratio)),
    lines: named === undefined ? linesOf(resolution) : linesOfArea(named.width * named.height),
    seconds: duration > 0 ? duration : 5,
    images: isVideo ? undefined : n,
    chat: service.endsWith('/generation'),
    inputSeconds: hasVideo ? (faults.number('input-seconds') ?? 5) : 0,
    ratio,
    watermark: parameters.watermark,
    extended: parameters.prompt_extend,
    fullUsage: /^(?:wan3|wan2\.7|happyhorse)/.test(model),
    refusal: issue === undefined ? undefined : `The ${issue.path.join('.')} ${issue.message}`,
  };
}

function cancel(desk: Desk<Detail>, call: Call): Promise<Reply> {
  const text = 'Failed to cancel the task, please confirm if the task is in PENDING status.';
  const refused = () => refuse(400, 'UnsupportedOperation', text).reply(desk.world.now());
  const found = (job: Job<Detail>): Reply => {
    if (job.phase !== 'queued') return refused();
    desk.cancel(job);
    return json(200, { request_id: randomUUID() });
  };
  return desk.about('delete', call, found, refused);
}

function list(desk: Desk<Detail>, call: Call): Promise<Reply> {
  const { query } = call.request;
  const refusal = invalid('page_no and page_size must be positive.');
  const page_no = pageNumber(query, 'page_no', 1, refusal);
  const page_size = Math.min(pageSizeMax, pageNumber(query, 'page_size', 10, refusal));
  const is = (name: string, fact: string) => (query.get(name) ?? fact) === fact;
  const matching = desk.newestFirst().filter((job) => {
    // Compare times as text. The text consists of the digits of the local time in China.
    const created = chinaTime(job.task.createdAt).replaceAll(/\D/g, '').slice(0, 14);
    if (!is('status', wordOf(job)) || !is('model_name', job.model)) return false;
    return created >= (query.get('start_time') ?? '') && created <= (query.get('end_time') ?? '9');
  });
  const data = matching.slice((page_no - 1) * page_size, page_no * page_size).map((job) => {
    const about = { task_id: job.id, model_name: job.model, status: wordOf(job) };
    return { ...about, gmt_create: job.task.createdAt, region: 'cn-beijing' };
  });
  const total = matching.length;
  const pages = { page_no, page_size, total, total_page: Math.ceil(total / page_size) };
  return desk.list(call, [], () => json(200, { request_id: randomUUID(), data, ...pages }));
}

const wordFor = phaseWords('PENDING RUNNING SUCCEEDED FAILED FAILED CANCELED POST_PROCESSING');

function phaseOf({ phase, detail }: Job<Detail>) {
  return detail.refusal !== undefined && (phase === 'running' || phase === 'succeeded') ? 'failed' : phase;
}

function wordOf(job: Job<Detail>): string {
  return wordFor(phaseOf(job));
}

function present(job: Job<Detail>): object {
  const { id, task, since } = job;
  const phase = phaseOf(job);
  const isOver = phase === 'succeeded' || phase === 'failed' || phase === 'cancelled';
  const isDone = phase === 'succeeded';
  const output = {
    task_id: id,
    task_status: wordFor(phase),
    submit_time: chinaTime(task.createdAt),
    scheduled_time: phase === 'queued' ? undefined : chinaTime(job.startsAt),
    end_time: isOver ? chinaTime(since) : undefined,
    ...(phase === 'failed' ? failureOf(job) : {}),
    ...(isDone ? results(job) : {}),
  };
  return { request_id: randomUUID(), output, usage: isDone ? job.reported(usageOf(job)) : undefined };
}

function failureOf({ detail, faults }: Job<Detail>) {
  if (detail.refusal !== undefined) return { code: 'InvalidParameter', message: detail.refusal };
  const { code, message } = faults.has('moderation-in-task') ? outputRefused : internal;
  return { code, message };
}

function failedItems({ faults }: Job<Detail>) {
  const items = [['item-moderation', outputRefused] as const, ['item-error', internal] as const];
  return new Map(
    items.flatMap(([name, error]) => (faults.has(name) ? [[faults.number(name) ?? 0, error]] : [])),
  );
}

function results(job: Job<Detail>): object {
  const { task, detail, faults } = job;
  const orig_prompt = task.prompt;
  const actual_prompt = detail.extended ? `${orig_prompt}, in great detail` : undefined;
  if (detail.images === undefined) return { orig_prompt, actual_prompt, video_url: job.links()[0] };
  if (faults.has('missing-url')) return { results: [] };
  if (detail.chat) return { choices: chatChoices(job), finished: true };
  const failed = failedItems(job);
  const made = linksOf(job).map((url, index) => {
    const error = failed.get(index);
    return error === undefined
      ? { orig_prompt, actual_prompt, url }
      : { code: error.code, message: error.message };
  });
  const FAILED = made.filter((result) => 'code' in result).length;
  const TOTAL = made.length;
  return { results: made, task_metrics: { TOTAL, SUCCEEDED: TOTAL - FAILED, FAILED } };
}

function linksOf(job: Job<Detail>): string[] {
  return job.links({ look: { marked: job.detail.watermark } });
}

function chatChoices(job: Job<Detail>): readonly object[] {
  return linksOf(job).map((image) => ({
    finish_reason: 'stop',
    message: { role: 'assistant', content: [{ image }] },
  }));
}

function usageOf(job: Job<Detail>): object {
  const { chat, width, height, lines, seconds, images, ratio, fullUsage, inputSeconds } = job.detail;
  if (images !== undefined) {
    const image_count = Math.ceil(job.billed(images - failedItems(job).size));
    return { image_count, ...(chat ? { width, height } : {}) };
  }
  const output = Math.ceil(job.billed(seconds));
  const seen = { output_video_duration: output, input_video_duration: inputSeconds };
  const more = { ...seen, size: `${width}*${height}`, video_ratio: ratio };
  return { duration: output + inputSeconds, video_count: 1, SR: lines, ...(fullUsage ? more : {}) };
}

function linesOfArea(pixels: number): number {
  return pixels < 600_000 ? 480 : pixels < 1_500_000 ? 720 : 1080;
}

function chinaTime(milliseconds: number): string {
  return new Date(milliseconds + 8 * 3_600_000).toISOString().replace('T', ' ').slice(0, 23);
}
