import { randomUUID } from 'node:crypto';
import { createDialect } from '../dialect.ts';
import type { Call, Dialect } from '../dialect.ts';
import type { FaultSet } from '../fault.ts';
import { JobDesk } from '../job-desk.ts';
import { json } from '../wire.ts';
import type { Reply } from '../wire.ts';
import type { World } from '../world.ts';
import {
  DashScopeError,
  dashScopeProblems,
  dataInspectionFailed,
  invalidParameter,
} from './dashscope-error.ts';
import { services } from './dashscope-models.ts';
import {
  checkSubmit,
  dashScopeDetail,
  promptOf,
  readDashScopeBody,
  settleDashScope,
} from './dashscope-request.ts';
import type { DashScopeDetail } from './dashscope-request.ts';
import {
  chatChoices,
  chinaTime,
  phaseOf,
  presentDashScopeTask,
  presentUnknown,
  statusOf,
  usageOf,
} from './dashscope-task.ts';
import type { DashScopeTask } from './dashscope-task.ts';

const servicesPath = '/services/aigc/';
const recordKeptMs = 86_400_000;
/** No deadline of its own is documented; it only has to be later than the record lives. */
const expiresAfterMs = 2 * recordKeptMs;
const pageSizeDefault = 10;
const pageSizeMax = 100;

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
  const submits = Object.values(services).map(
    (service) => [`POST ${servicesPath}${service}`, (call: Call) => submit(desk, call, service)] as const,
  );
  return createDialect(desk, {
    prefix: '/dashscope/api/v1',
    noSuchRoute: ({ method, path }) =>
      method === 'POST' && path.startsWith(servicesPath)
        ? invalidParameter('url error, please check url！')
        : new DashScopeError(404, 'NotFound', `No such operation: ${method} ${path}.`),
    routes: {
      ...Object.fromEntries(submits),
      'GET /tasks': (call) => list(desk, call),
      'GET /tasks/': (call) => list(desk, call),
      'GET /tasks/:id': (call) =>
        desk.about('poll', call, {
          found: (task) => json(200, presentDashScopeTask(task, world)),
          missing: () => json(200, presentUnknown(call.id)),
        }),
      'POST /tasks/:id/cancel': (call) => cancel(desk, call),
    },
  });
}

function submit(desk: DashScopeDesk, { request }: Call, service: string): Promise<Reply> {
  const isSynchronous = service === services.multimodal;
  const isAsynchronous = request.headers['x-dashscope-async'] === 'enable';
  if (isAsynchronous === isSynchronous) {
    const kind = isSynchronous ? 'asynchronous' : 'synchronous';
    throw new DashScopeError(403, 'AccessDenied', `current user api does not support ${kind} calls.`);
  }
  const body = readDashScopeBody(request);
  return desk.create(request, { model: body.model, prompt: promptOf(body) }, async (submission) => {
    const { model, faults } = submission;
    const detail = settleDashScope(body, checkSubmit(body, model, service), service, faults);
    const order = { id: randomUUID(), expiresAfterMs, detail };
    if (isSynchronous) return answerAtOnce(desk, desk.draft(submission, order), faults);
    const task = await desk.accept(submission, order);
    return json(200, {
      request_id: randomUUID(),
      output: { task_id: task.id, task_status: statusOf(task, desk.world.now()) },
    });
  });
}

/** Without a task there is nothing to poll: the response itself reports a mistake. */
async function answerAtOnce(desk: DashScopeDesk, task: DashScopeTask, faults: FaultSet): Promise<Reply> {
  const { world } = desk;
  if (task.detail.refusal !== undefined) throw invalidParameter(task.detail.refusal);
  await world.paint(faults);
  if (faults.has('item-moderation') || faults.has('moderation-in-task')) throw dataInspectionFailed;
  if (faults.has('item-error') || faults.has('failed')) throw dashScopeProblems.internal;
  desk.countCreate(task);
  return json(200, {
    output: { choices: chatChoices(task, world, world.now()) },
    ...(faults.has('missing-usage') ? {} : { usage: usageOf(task, faults) }),
    request_id: randomUUID(),
  });
}

function cancel(desk: DashScopeDesk, call: Call): Promise<Reply> {
  const refused = new DashScopeError(
    400,
    'UnsupportedOperation',
    'Failed to cancel the task, please confirm if the task is in PENDING status.',
  );
  return desk.about('delete', call, {
    found(task) {
      if (phaseOf(task, desk.world.now()).phase !== 'queued') return refused.reply();
      desk.cancel(task);
      return json(200, { request_id: randomUUID() });
    },
    missing: () => refused.reply(),
  });
}

function list(desk: DashScopeDesk, call: Call): Promise<Reply> {
  const { query } = call.request;
  const page = wholeNumber(query.get('page_no'), 1);
  const size = Math.min(pageSizeMax, wholeNumber(query.get('page_size'), pageSizeDefault));
  const [status, model] = [query.get('status'), query.get('model_name')];
  const [from, to] = [query.get('start_time'), query.get('end_time')];
  const now = desk.world.now();
  const matching = desk.newestFirst().filter((task) => {
    // Times are compared as they are written: digits in local time of China.
    const created = chinaTime(task.createdAt).replaceAll(/\D/g, '').slice(0, 14);
    return (
      (status === null || statusOf(task, now) === status) &&
      (model === null || task.model === model) &&
      (from === null || created >= from) &&
      (to === null || created <= to)
    );
  });
  return desk.list(call, [], () =>
    json(200, {
      request_id: randomUUID(),
      data: matching.slice((page - 1) * size, page * size).map((task) => ({
        task_id: task.id,
        model_name: task.model,
        status: statusOf(task, now),
        gmt_create: task.createdAt,
        region: 'cn-beijing',
      })),
      page_no: page,
      page_size: size,
      total: matching.length,
      total_page: Math.ceil(matching.length / size),
    }),
  );
}

function wholeNumber(text: string | null, ifAbsent: number): number {
  const value = Number(text ?? ifAbsent);
  if (!Number.isInteger(value) || value < 1)
    throw invalidParameter('page_no and page_size must be positive.');
  return value;
}
