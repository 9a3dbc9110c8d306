import { createDialect } from '../dialect.ts';
import type { Call, Dialect } from '../dialect.ts';
import type { Submission } from '../desk.ts';
import { JobDesk } from '../job-desk.ts';
import { isFinal, momentOf } from '../task.ts';
import { bytes, json, parseJson } from '../wire.ts';
import type { Reply } from '../wire.ts';
import type { World } from '../world.ts';
import { ArkError, arkProblems, invalid, modelNotFound, noArkRoute } from './ark-error.ts';
import { findArkModel } from './ark-models.ts';
import { readModelName, readOrder, readTexts } from './ark-request.ts';
import { afterDraft, arkDetail, newArkId, presentArkTask, sdkListItem, settle } from './ark-task.ts';
import type { ArkDetail, ArkTask } from './ark-task.ts';

const recordKeptMs = 7 * 86_400_000;
const pageSizeDefault = 20;
const pageSizeMax = 500;
const statuses = ['queued', 'running', 'cancelled', 'succeeded', 'failed', 'expired'];

type ArkDesk = JobDesk<ArkDetail>;

/** Volcengine Ark: video tasks. */
export function createArkDialect(world: World): Dialect {
  const desk: ArkDesk = new JobDesk(world, {
    name: 'ark',
    problems: arkProblems,
    detail: arkDetail,
    recordKeptMs,
    callbackBody: (task) => presentArkTask(task, world),
  });
  const tasks = '/contents/generations/tasks';
  return createDialect(desk, {
    prefix: '/ark/api/v3',
    noSuchRoute: noArkRoute,
    routes: {
      [`POST ${tasks}`]: (call) => create(desk, call),
      [`GET ${tasks}`]: (call) => list(desk, call),
      [`GET ${tasks}/:id`]: (call) =>
        desk.about('poll', call, { found: (task) => json(200, presentArkTask(task, world)) }),
      [`DELETE ${tasks}/:id`]: (call) =>
        desk.about('delete', call, {
          found(task, faults) {
            remove(desk, task);
            // Docs say `{}`, the generated SDK says 204.
            return faults.has('no-content') ? bytes(204, Buffer.alloc(0), {}) : json(200, {});
          },
        }),
    },
  });
}

function create(desk: ArkDesk, { request }: Call): Promise<Reply> {
  const body = parseJson(request.body);
  const asked = { model: readModelName(body), ...readTexts(body) };
  return desk.create(request, asked, (submission) => accept(desk, body, submission));
}

async function accept(desk: ArkDesk, body: unknown, submission: Submission): Promise<Reply> {
  const { world } = desk;
  const found = findArkModel(submission.model);
  if (found === undefined) throw modelNotFound(submission.model);
  if (typeof body !== 'object' || body === null) throw invalid('body', 'must be a JSON object');
  const order = readOrder(body, found.model);
  const settled = settle(order, found.model, submission.model, submission.faults);
  const { draftTaskId } = order.media;
  const task = await desk.accept(submission, {
    id: desk.newId(() => newArkId(world.now())),
    model: found.name,
    expiresAfterMs: order.fields.execution_expires_after * 1000,
    callbackUrl: order.fields.callback_url,
    detail: draftTaskId === undefined ? settled : afterDraft(settled, findDraft(desk, draftTaskId)),
  });
  return json(200, { id: task.id, safety_identifier: task.detail.safetyIdentifier });
}

function findDraft(desk: ArkDesk, id: string): ArkDetail {
  const draft = desk.find(id);
  if (draft?.detail.draft !== true || momentOf(draft, desk.world.now()).phase !== 'succeeded') {
    throw invalid('content', `draft_task ${id} is not a finished draft`);
  }
  return draft.detail;
}

function list(desk: ArkDesk, call: Call): Promise<Reply> {
  const { world } = desk;
  const { query } = call.request;
  const page = wholeNumber(query, 'page_num', 1);
  const size = wholeNumber(query, 'page_size', pageSizeDefault);
  const status = query.get('filter.status');
  if (status !== null && !statuses.includes(status)) throw invalid('filter.status', 'unknown status');
  const ids = query.getAll('filter.task_ids');
  const model = query.get('filter.model');
  const tier = query.get('filter.service_tier');
  const candidates = ids.length > 0 ? ids.flatMap((id) => desk.find(id) ?? []) : desk.newestFirst();
  const now = world.now();
  const matching = candidates.filter(
    (task) =>
      (model === null || task.detail.endpoint === model) &&
      (tier === null || task.detail.tier === tier) &&
      (status === null || momentOf(task, now).phase === status),
  );
  const shown = matching.slice((page - 1) * size, page * size);
  return desk.list(call, ids.length > 0 ? shown : [], (faults) => {
    const items = shown.map((task) => presentArkTask(task, world));
    return json(200, {
      total: matching.length,
      items: faults.has('sdk-shape') ? items.map(sdkListItem) : items,
    });
  });
}

function wholeNumber(query: URLSearchParams, field: string, ifAbsent: number): number {
  const value = Number(query.get(field) ?? ifAbsent);
  if (!Number.isInteger(value) || value < 1 || value > pageSizeMax)
    throw invalid(field, `must be within 1 and ${pageSizeMax}`);
  return value;
}

/** What a DELETE does depends on the status: it cancels what is queued, and removes the record of what has ended. */
function remove(desk: ArkDesk, task: ArkTask): void {
  const { phase } = momentOf(task, desk.world.now());
  if (phase === 'queued') desk.cancel(task);
  else if (phase === 'cancelled') {
    const text = 'Cannot delete task because it is cancelled.';
    throw new ArkError(409, 'InvalidAction.CancelledTaskDeletion', text);
  } else if (isFinal(phase)) desk.remove(task);
  else {
    const text = 'Cannot delete task because it is currently running. Wait for it to finish.';
    throw new ArkError(409, 'InvalidAction.RunningTaskDeletion', text);
  }
}
