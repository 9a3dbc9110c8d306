import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { createDialect } from '../dialect.ts';
import type { Call, Dialect } from '../dialect.ts';
import type { FaultSet } from '../fault.ts';
import { JobDesk } from '../job-desk.ts';
import { Job, shown } from '../job.ts';
import { linesOf, pairIn, sizeOf } from '../sizes.ts';
import type { Task } from '../task.ts';
import { check, json, parseJson } from '../wire.ts';
import type { Reply } from '../wire.ts';
import type { World } from '../world.ts';
import {
  chatChoices,
  chinaTime,
  dashScopeDetail,
  dashScopeError,
  dashScopeProblems,
  dataInspectionFailed,
  invalidParameter,
  presentDashScope,
  presentUnknown,
  usageOf,
  wordOf,
} from './dashscope-task.ts';
import type { DashScopeDetail } from './dashscope-task.ts';

const servicesPath = '/services/aigc/';
const recordKeptMs = 86_400_000;
/** No deadline of its own is documented; it only has to be later than the record lives. */
const expiresAfterMs = 2 * recordKeptMs;
const pageSizeMax = 100;
const multimodal = 'multimodal-generation/generation';
const videoServices = ['video-generation/video-synthesis', 'image2video/video-synthesis'];
const services = [
  ...videoServices,
  'text2image/image-synthesis',
  'image2image/image-synthesis',
  'image-generation/generation',
  multimodal,
];

type DashScopeDesk = JobDesk<DashScopeDetail>;

/** Alibaba DashScope: videos and images, asynchronous and not. */
export function createDashScopeDialect(world: World): Dialect {
  const desk: DashScopeDesk = new JobDesk(world, {
    name: 'dashscope',
    problems: dashScopeProblems,
    detail: dashScopeDetail,
    recordKeptMs,
    // Records live a day from their submit, whatever became of them.
    knownForMs: recordKeptMs,
  });
  const submits = services.map(
    (service) => [`POST ${servicesPath}${service}`, (call: Call) => submit(desk, call, service)] as const,
  );
  return createDialect(desk, {
    prefix: '/dashscope/api/v1',
    noSuchRoute: ({ method, path }) =>
      method === 'POST' && path.startsWith(servicesPath)
        ? invalidParameter('url error, please check url！')
        : dashScopeError(404, 'NotFound', `No such operation: ${method} ${path}.`),
    routes: {
      ...Object.fromEntries(submits),
      'GET /tasks': (call) => list(desk, call),
      'GET /tasks/': (call) => list(desk, call),
      'GET /tasks/:id': (call) =>
        desk.about('poll', call, {
          ...shown(world, presentDashScope),
          missing: () => json(200, presentUnknown(call.id)),
        }),
      'POST /tasks/:id/cancel': (call) => cancel(desk, call),
    },
  });
}

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
/** A mistake here does not refuse the submit: it fails the task. */
const parametersSchema = z.object({
  size: z.string().regex(/^\d{2,5}\*\d{2,5}$/, 'is not supported').optional(),
  resolution: z.enum(['480P', '720P', '1080P']).default('720P'),
  ratio: z.enum(['adaptive', '16:9', '9:16', '1:1', '4:3', '3:4']).default('adaptive'),
  duration: z.int().min(-1).max(60).default(5),
  n: z.int().min(1).max(6).default(1),
  seed: z.int().min(0).max(2_147_483_647).optional(),
  prompt_extend: z.boolean().default(true),
  watermark: z.boolean().default(false),
  audio: z.boolean().optional(),
}); // prettier-ignore

function submit(desk: DashScopeDesk, { request }: Call, service: string): Promise<Reply> {
  const isSynchronous = service === multimodal;
  const isAsynchronous = request.headers['x-dashscope-async'] === 'enable';
  if (isAsynchronous === isSynchronous) {
    const kind = isSynchronous ? 'asynchronous' : 'synchronous';
    throw dashScopeError(403, 'AccessDenied', `current user api does not support ${kind} calls.`);
  }
  const body = check(bodySchema, parseJson(request.body), ({ path }) =>
    invalidParameter(`Required body invalid, please check the request body format. ${path}`.trim()),
  );
  const texts = (body.input.messages ?? []).flatMap(({ content }) =>
    content.flatMap(({ text }) => text ?? []),
  );
  const asked = { model: body.model, prompt: body.input.prompt ?? texts.join('\n') };
  return desk.create(request, asked, async (submission) => {
    const { model, faults } = submission;
    if (!/^(?:wanx?\d|happyhorse-\d|qwen-image)/.test(model)) throw dashScopeProblems['not-found'];
    if (isSynchronous && body.input.messages === undefined)
      throw invalidParameter('input.messages is required.');
    const detail = settle(body, { model, service }, faults);
    const order = { id: randomUUID(), expiresAfterMs, detail };
    if (isSynchronous) return answerAtOnce(desk, desk.draft(submission, order));
    const task = await desk.accept(submission, order);
    const output = { task_id: task.id, task_status: wordOf(new Job(task, desk.world)) };
    return json(200, { request_id: randomUUID(), output });
  });
}

const videoTypes = ['reference_video', 'first_clip', 'video'];

function settle(
  { input, parameters: given }: Body,
  { model, service }: { readonly model: string; readonly service: string },
  faults: FaultSet,
): DashScopeDetail {
  const read = parametersSchema.safeParse(given);
  const [issue] = read.error?.issues ?? [];
  const refusal = issue === undefined ? undefined : `The ${issue.path.join('.')} ${issue.message}`;
  const parameters = read.data ?? parametersSchema.parse({});
  const isVideo = videoServices.includes(service);
  const { resolution, duration, n, size = isVideo ? '' : '1024*1024' } = parameters;
  const ratio = parameters.ratio === 'adaptive' ? (faults.text('ratio') ?? '16:9') : parameters.ratio;
  const hasVideo = (input.media ?? []).some(({ type }) => videoTypes.includes(type));
  return {
    ...(pairIn(size) ?? sizeOf(linesOf(resolution), ratio)),
    seconds: duration > 0 ? duration : 5,
    images: isVideo ? 0 : n,
    chat: service.endsWith('/generation'),
    inputSeconds: hasVideo ? (faults.number('input-seconds') ?? 5) : 0,
    ratio,
    watermark: parameters.watermark,
    extended: parameters.prompt_extend,
    fullUsage: /^(?:wan3|wan2\.7|happyhorse)/.test(model),
    refusal,
  };
}

/** Without a task there is nothing to poll: the response itself reports a mistake. */
async function answerAtOnce(desk: DashScopeDesk, task: Task<DashScopeDetail>): Promise<Reply> {
  const job = new Job(task, desk.world);
  const { detail, faults } = job;
  if (detail.refusal !== undefined) throw invalidParameter(detail.refusal);
  await desk.world.paint(faults);
  if (faults.has('item-moderation') || faults.has('moderation-in-task')) throw dataInspectionFailed;
  if (faults.has('item-error') || faults.has('failed')) throw dashScopeProblems.internal;
  desk.countCreate(task);
  const usage = job.reported(usageOf(job));
  return json(200, { output: { choices: chatChoices(job) }, usage, request_id: randomUUID() });
}

function cancel(desk: DashScopeDesk, call: Call): Promise<Reply> {
  const text = 'Failed to cancel the task, please confirm if the task is in PENDING status.';
  const refused = () => dashScopeError(400, 'UnsupportedOperation', text).reply(desk.world.now());
  return desk.about('delete', call, {
    found(task) {
      if (new Job(task, desk.world).phase !== 'queued') return refused();
      desk.cancel(task);
      return json(200, { request_id: randomUUID() });
    },
    missing: refused,
  });
}

function list(desk: DashScopeDesk, call: Call): Promise<Reply> {
  const { query } = call.request;
  const page = wholeNumber(query.get('page_no'), 1);
  const size = Math.min(pageSizeMax, wholeNumber(query.get('page_size'), 10));
  const [status, model] = [query.get('status'), query.get('model_name')];
  const [from, to] = [query.get('start_time'), query.get('end_time')];
  const jobs = desk.newestFirst().map((task) => new Job(task, desk.world));
  const matching = jobs.filter((job) => {
    // Times are compared as they are written: digits in local time of China.
    const created = chinaTime(job.task.createdAt).replaceAll(/\D/g, '').slice(0, 14);
    return (
      (status === null || wordOf(job) === status) &&
      (model === null || job.task.model === model) &&
      (from === null || created >= from) &&
      (to === null || created <= to)
    );
  });
  const data = matching.slice((page - 1) * size, page * size).map((job) => ({
    task_id: job.task.id,
    model_name: job.task.model,
    status: wordOf(job),
    gmt_create: job.task.createdAt,
    region: 'cn-beijing',
  }));
  const total = matching.length;
  const total_page = Math.ceil(total / size);
  return desk.list(call, [], () =>
    json(200, { request_id: randomUUID(), data, page_no: page, page_size: size, total, total_page }),
  );
}

function wholeNumber(text: string | null, ifAbsent: number): number {
  const value = Number(text ?? ifAbsent);
  if (!Number.isInteger(value) || value < 1)
    throw invalidParameter('page_no and page_size must be positive.');
  return value;
}
