import { randomUUID } from 'node:crypto';
import type { ProblemReplies } from '../disturb.ts';
import { FaultSet } from '../fault.ts';
import type { TaskStore } from '../task-store.ts';
import { json } from '../wire.ts';
import type { Reply, WireRequest } from '../wire.ts';
import type { Dialect, World } from '../world.ts';
import {
  DashScopeError,
  dashScopeErrorReply,
  dashScopeProblems,
  dataInspectionFailed,
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

const name = 'dashscope';
const servicesPath = '/services/aigc/';
const recordKeptMs = 86_400_000;
/** No deadline of its own is documented; it only has to be later than the record lives. */
const expiresAfterMs = 2 * recordKeptMs;
const pageSizeDefault = 10;
const pageSizeMax = 100;

/** Alibaba DashScope: videos and images, asynchronous and not (providers.md 5). */
export function createDashScopeDialect(world: World): Dialect {
  const store = world.store(name, dashScopeDetail, recordKeptMs);
  const context: Context = {
    world,
    store,
    problems: (problem) => dashScopeErrorReply(dashScopeProblems[problem]),
  };
  return {
    name,
    prefix: '/dashscope/api/v1',
    async handle(request) {
      try {
        return await route(context, request);
      } catch (error) {
        if (error instanceof DashScopeError) return dashScopeErrorReply(error);
        throw error;
      }
    },
  };
}

interface Context {
  readonly world: World;
  readonly store: TaskStore<DashScopeDetail>;
  readonly problems: ProblemReplies;
}

function route(context: Context, request: WireRequest): Reply | Promise<Reply> {
  if (!context.world.isAuthorised(request)) throw dashScopeProblems.unauthorized;
  const { method, path } = request;
  if (method === 'POST' && path.startsWith(servicesPath))
    return submit(context, request, path.slice(servicesPath.length));
  if (method === 'GET' && (path === '/tasks/' || path === '/tasks')) return list(context, request);
  const [, id = '', action] = /^\/tasks\/([\w-]+)(?:\/(\w+))?$/.exec(path) ?? [];
  if (id !== '' && method === 'GET' && action === undefined) return poll(context, request, id);
  if (id !== '' && method === 'POST' && action === 'cancel') return cancel(context, request, id);
  throw new DashScopeError(404, 'NotFound', `No such operation: ${method} ${path}.`);
}

function submit({ world, store, problems }: Context, request: WireRequest, service: string): Promise<Reply> {
  const isSynchronous = service === services.multimodal;
  const isKnown = Object.values(services).some((known) => known === service);
  if (!isKnown) throw new DashScopeError(400, 'InvalidParameter', 'url error, please check url！');
  const isAsynchronous = request.headers['x-dashscope-async'] === 'enable';
  if (isAsynchronous === isSynchronous) {
    const kind = isSynchronous ? 'asynchronous' : 'synchronous';
    throw new DashScopeError(403, 'AccessDenied', `current user api does not support ${kind} calls.`);
  }
  const body = readDashScopeBody(request);
  const prompt = promptOf(body);
  return world.create(
    name,
    request,
    { model: body.model, prompt, texts: [prompt], problems },
    async ({ model, faults }) => {
      const detail = settleDashScope(body, checkSubmit(body, model, service), service, faults);
      const task: DashScopeTask = {
        id: randomUUID(),
        model,
        prompt,
        ...world.times(faults),
        expiresAfterMs,
        faults: faults.sources(),
        detail,
      };
      if (isSynchronous) return answerAtOnce(world, task, faults);
      store.insert(task);
      world.parts.statistics.countPrompt('creates', prompt);
      return json(200, {
        request_id: randomUUID(),
        output: { task_id: task.id, task_status: statusOf(task, world.now()) },
      });
    },
  );
}

/** Without a task there is nothing to poll: a mistake is told in the answer itself. */
async function answerAtOnce(world: World, task: DashScopeTask, faults: FaultSet): Promise<Reply> {
  if (task.detail.refusal !== undefined)
    throw new DashScopeError(400, 'InvalidParameter', task.detail.refusal);
  await world.paint(faults);
  if (faults.has('item-moderation') || faults.has('moderation-in-task')) throw dataInspectionFailed;
  if (faults.has('item-error') || faults.has('failed')) throw dashScopeProblems.internal;
  world.parts.statistics.countPrompt('creates', task.prompt);
  return json(200, {
    output: { choices: chatChoices(task, world, world.now()) },
    ...(faults.has('missing-usage') ? {} : { usage: usageOf(task, faults) }),
    request_id: randomUUID(),
  });
}

function poll(context: Context, request: WireRequest, id: string): Promise<Reply> {
  const { world, problems } = context;
  world.parts.statistics.count('gets');
  const task = visible(context, id);
  return world.later(
    'poll',
    request,
    { dialect: name, tasks: task === undefined ? [] : [task], problems },
    () => json(200, task === undefined ? presentUnknown(id) : presentDashScopeTask(task, world)),
  );
}

/** `vanishes`: unknown once it runs. Records live a day from their submit, whatever became of them. */
function visible({ world, store }: Context, id: string): DashScopeTask | undefined {
  const task = store.get(id);
  if (task === undefined || world.now() - task.createdAt >= recordKeptMs) return undefined;
  if (task.faults === undefined || !FaultSet.of(task.faults).has('vanishes')) return task;
  return phaseOf(task, world.now()).phase === 'queued' ? task : undefined;
}

function cancel(context: Context, request: WireRequest, id: string): Promise<Reply> {
  const { world, store, problems } = context;
  world.parts.statistics.count('deletes');
  const task = visible(context, id);
  return world.later(
    'delete',
    request,
    { dialect: name, tasks: task === undefined ? [] : [task], problems },
    () => {
      if (task === undefined || phaseOf(task, world.now()).phase !== 'queued') {
        throw new DashScopeError(
          400,
          'UnsupportedOperation',
          'Failed to cancel the task, please confirm if the task is in PENDING status.',
        );
      }
      store.cancel(task);
      return json(200, { request_id: randomUUID() });
    },
  );
}

function list({ world, store, problems }: Context, request: WireRequest): Promise<Reply> {
  world.parts.statistics.count('lists');
  const { query } = request;
  const page = wholeNumber(query.get('page_no'), 1);
  const size = Math.min(pageSizeMax, wholeNumber(query.get('page_size'), pageSizeDefault));
  const [status, model] = [query.get('status'), query.get('model_name')];
  const [from, to] = [query.get('start_time'), query.get('end_time')];
  const now = world.now();
  const matching = store.newestFirst().filter((task) => {
    // Times are compared as they are written: digits in local time of China.
    const created = chinaTime(task.createdAt).replaceAll(/\D/g, '').slice(0, 14);
    return (
      (status === null || statusOf(task, now) === status) &&
      (model === null || task.model === model) &&
      (from === null || created >= from) &&
      (to === null || created <= to)
    );
  });
  return world.later('list', request, { dialect: name, tasks: [], problems }, () =>
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
    throw new DashScopeError(400, 'InvalidParameter', 'page_no and page_size must be positive.');
  return value;
}
