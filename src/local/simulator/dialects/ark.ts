import type { ProblemReplies } from '../disturb.ts';
import { FaultSet } from '../fault.ts';
import { isFinal, momentOf, nextChangeAt } from '../task.ts';
import type { TaskStore } from '../task-store.ts';
import { bytes, json, parseJson } from '../wire.ts';
import type { Reply, WireRequest } from '../wire.ts';
import type { Dialect, Submission, World } from '../world.ts';
import { ArkError, arkErrorReply, arkProblems, invalid, modelNotFound } from './ark-error.ts';
import { findArkModel } from './ark-models.ts';
import { readModelName, readOrder } from './ark-request.ts';
import { afterDraft, arkDetail, newArkId, presentArkTask, sdkListItem, settle } from './ark-task.ts';
import type { ArkDetail, ArkTask } from './ark-task.ts';

const name = 'ark';
const tasksPath = '/contents/generations/tasks';
const recordKeptMs = 7 * 86_400_000;
const pageSizeDefault = 20;
const pageSizeMax = 500;
const statuses = ['queued', 'running', 'cancelled', 'succeeded', 'failed', 'expired'];

/** Volcengine Ark: video tasks (providers.md 1.1 to 1.8). */
export function createArkDialect(world: World): Dialect {
  const store = world.store(name, arkDetail, recordKeptMs);
  const context: Context = {
    world,
    store,
    problems: (problem) => arkErrorReply(arkProblems[problem], world.now()),
  };
  for (const task of store.oldestFirst()) if (task.callbackUrl !== undefined) watch(context, task);
  return {
    name,
    prefix: '/ark/api/v3',
    async handle(request) {
      try {
        return await route(context, request);
      } catch (error) {
        if (error instanceof ArkError) return arkErrorReply(error, world.now());
        throw error;
      }
    },
  };
}

interface Context {
  readonly world: World;
  readonly store: TaskStore<ArkDetail>;
  readonly problems: ProblemReplies;
}

function route(context: Context, request: WireRequest): Reply | Promise<Reply> {
  if (!context.world.isAuthorised(request)) throw arkProblems.unauthorized;
  const { method, path } = request;
  if (path === tasksPath && method === 'POST') return create(context, request);
  if (path === tasksPath && method === 'GET') return list(context, request);
  const id = path.startsWith(`${tasksPath}/`) ? path.slice(tasksPath.length + 1) : '';
  if (id !== '' && !id.includes('/')) {
    if (method === 'GET') return get(context, request, id);
    if (method === 'DELETE') return remove(context, request, id);
  }
  throw new ArkError(404, 'NotFound', `No such operation: ${method} ${path}.`);
}

function create(context: Context, request: WireRequest): Promise<Reply> {
  const body = parseJson(request.body);
  const model = readModelName(body);
  const texts = textsOf(body);
  const asked = {
    model,
    prompt: texts.prompt,
    texts: [texts.prompt, texts.endUser],
    problems: context.problems,
  };
  return context.world.create(name, request, asked, (submission) => accept(context, body, submission));
}

async function accept(context: Context, body: unknown, submission: Submission): Promise<Reply> {
  const { world, store } = context;
  const found = findArkModel(submission.model);
  if (found === undefined) throw modelNotFound(submission.model);
  if (typeof body !== 'object' || body === null) throw invalid('body', 'must be a JSON object');
  const order = readOrder(body, found.model);
  const { faults, prompt } = submission;
  const settled = settle(order, found.model, submission.model, faults);
  const task: ArkTask = {
    id: newArkId(world.now(), (id) => store.has(id)),
    model: found.name,
    prompt,
    ...world.times(faults),
    expiresAfterMs: order.fields.execution_expires_after * 1000,
    callbackUrl: order.fields.callback_url,
    faults: faults.sources(),
    detail:
      order.media.draftTaskId === undefined
        ? settled
        : afterDraft(settled, draftOf(context, order.media.draftTaskId)),
  };
  store.insert(task);
  world.parts.statistics.countPrompt('creates', prompt);
  if (task.callbackUrl !== undefined) {
    const announced = announce(context, task);
    watch(context, task);
    if (faults.has('callback-early')) await announced;
  }
  return json(200, { id: task.id, safety_identifier: task.detail.safetyIdentifier });
}

function draftOf({ store, world }: Context, id: string): ArkDetail {
  const draft = store.get(id);
  if (draft?.detail.draft !== true || momentOf(draft, world.now()).phase !== 'succeeded') {
    throw invalid('content', `draft_task ${id} is not a finished draft`);
  }
  return draft.detail;
}

function get(context: Context, request: WireRequest, id: string): Promise<Reply> {
  context.world.parts.statistics.count('gets');
  const task = visible(context, id);
  const about = { dialect: name, tasks: task === undefined ? [] : [task], problems: context.problems };
  return context.world.later('poll', request, about, () => {
    return task === undefined
      ? context.problems('not-found')
      : json(200, presentArkTask(task, context.world));
  });
}

/** `vanishes`: the record is lost once the rendering began. */
function visible({ store, world }: Context, id: string): ArkTask | undefined {
  const task = store.get(id);
  if (task?.faults === undefined || !FaultSet.of(task.faults).has('vanishes')) return task;
  return momentOf(task, world.now()).phase === 'queued' ? task : undefined;
}

function list(context: Context, request: WireRequest): Promise<Reply> {
  const { world, store, problems } = context;
  world.parts.statistics.count('lists');
  const { query } = request;
  const page = wholeNumber(query, 'page_num', 1);
  const size = wholeNumber(query, 'page_size', pageSizeDefault);
  const status = query.get('filter.status');
  if (status !== null && !statuses.includes(status)) throw invalid('filter.status', 'unknown status');
  const ids = query.getAll('filter.task_ids');
  const model = query.get('filter.model');
  const tier = query.get('filter.service_tier');
  const candidates = ids.length > 0 ? ids.flatMap((id) => visible(context, id) ?? []) : store.newestFirst();
  const now = world.now();
  const matching = candidates.filter(
    (task) =>
      (model === null || task.detail.endpoint === model) &&
      (tier === null || task.detail.tier === tier) &&
      (status === null || momentOf(task, now).phase === status),
  );
  const shown = matching.slice((page - 1) * size, page * size);
  return world.later(
    'list',
    request,
    { dialect: name, tasks: ids.length > 0 ? shown : [], problems },
    (faults) => {
      const items = shown.map((task) => presentArkTask(task, world));
      return json(200, {
        total: matching.length,
        items: faults.has('sdk-shape') ? items.map(sdkListItem) : items,
      });
    },
  );
}

function wholeNumber(query: URLSearchParams, field: string, ifAbsent: number): number {
  const text = query.get(field);
  if (text === null) return ifAbsent;
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > pageSizeMax)
    throw invalid(field, `must be within 1 and ${pageSizeMax}`);
  return value;
}

/** The table of providers.md 1.6. */
function remove(context: Context, request: WireRequest, id: string): Promise<Reply> {
  const { world, store, problems } = context;
  world.parts.statistics.count('deletes');
  const task = visible(context, id);
  return world.later(
    'delete',
    request,
    { dialect: name, tasks: task === undefined ? [] : [task], problems },
    (faults) => {
      if (task === undefined) return problems('not-found');
      const { phase } = momentOf(task, world.now());
      if (phase === 'cancelled') {
        throw new ArkError(
          409,
          'InvalidAction.CancelledTaskDeletion',
          'Cannot delete task because it is cancelled.',
        );
      }
      if (phase === 'queued') store.cancel(task);
      else if (isFinal(phase)) store.remove(id);
      else {
        const text = 'Cannot delete task because it is currently running. Wait for it to finish.';
        throw new ArkError(409, 'InvalidAction.RunningTaskDeletion', text);
      }
      // Docs say `{}`, the generated SDK says 204.
      return faults.has('no-content') ? bytes(204, Buffer.alloc(0), {}) : json(200, {});
    },
  );
}

/** Calls back at each change of status from now on. */
function watch(context: Context, task: ArkTask): void {
  const { world, store } = context;
  const at = nextChangeAt(task, world.now());
  if (at === undefined || !Number.isFinite(at)) return;
  world.parts.clock.at(at, () => {
    if (store.get(task.id) !== task || task.cancelledAt !== undefined) return;
    void announce(context, task);
    watch(context, task);
  });
}

async function announce({ world }: Context, task: ArkTask): Promise<void> {
  const faults = FaultSet.of(task.faults);
  if (task.callbackUrl === undefined || faults.has('callback-never')) return;
  const body = JSON.stringify(presentArkTask(task, world));
  const delivery = { url: task.callbackUrl, body, failing: faults.has('callback-failing') };
  const deliveries = Array.from({ length: faults.has('callback-twice') ? 2 : 1 }, () =>
    world.parts.callbacks.deliver(delivery),
  );
  await Promise.all(deliveries);
}

/** Where markers may stand, read before anything is validated. */
function textsOf(body: unknown): { prompt: string; endUser: string } {
  if (typeof body !== 'object' || body === null) return { prompt: '', endUser: '' };
  const endUser =
    'safety_identifier' in body && typeof body.safety_identifier === 'string' ? body.safety_identifier : '';
  const content: unknown = 'content' in body ? body.content : undefined;
  if (!Array.isArray(content)) return { prompt: '', endUser };
  const items: readonly unknown[] = content;
  const texts = items.flatMap((item) =>
    typeof item === 'object' && item !== null && 'text' in item && typeof item.text === 'string'
      ? [item.text]
      : [],
  );
  return { prompt: texts.join('\n'), endUser };
}
