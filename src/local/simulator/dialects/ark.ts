import { z } from 'zod';
import type { Submission } from '../desk.ts';
import { createDialect } from '../dialect.ts';
import type { Call, Dialect } from '../dialect.ts';
import { JobDesk } from '../job-desk.ts';
import { inSeconds, Job, shown } from '../job.ts';
import { isFinal, momentOf } from '../task.ts';
import type { Task } from '../task.ts';
import { bytes, check, json, parseJson } from '../wire.ts';
import type { Reply } from '../wire.ts';
import { framesPerSecond } from '../world.ts';
import type { World } from '../world.ts';
import {
  arkError,
  arkProblems,
  arkWords,
  invalid,
  modelNotFound,
  noArkRoute,
  refuseArk,
} from './ark-error.ts';
import { arkDetail, arkModel, readArkBody, settleArk } from './ark-request.ts';
import type { ArkDetail } from './ark-request.ts';

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
    callbackBody: (task) => present(new Job(task, world)),
  });
  const tasks = '/contents/generations/tasks';
  return createDialect(desk, {
    prefix: '/ark/api/v3',
    noSuchRoute: noArkRoute,
    routes: {
      [`POST ${tasks}`]({ request }: Call) {
        const body = parseJson(request.body);
        return desk.create(request, askedOfArk(body), (submission) => accept(desk, body, submission));
      },
      [`GET ${tasks}`]: (call) => list(desk, call),
      [`GET ${tasks}/:id`]: (call) => desk.about('poll', call, shown(world, present)),
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

const outline = z.object({
  model: z.string().min(1),
  prompt: z.string().catch(''),
  content: z.array(z.object({ text: z.string().catch('') }).catch({ text: '' })).catch([]),
  safety_identifier: z.string().catch(''),
});

/** The model, and where faults may be named: read before anything else is validated. */
export function askedOfArk(body: unknown) {
  const { model, prompt, content, safety_identifier: endUser } = check(outline, body, refuseArk);
  const texts = content.flatMap(({ text }) => (text === '' ? [] : [text]));
  return { model, prompt: texts.length === 0 ? prompt : texts.join('\n'), endUser };
}

async function accept(desk: ArkDesk, raw: unknown, submission: Submission): Promise<Reply> {
  const { model: endpoint, faults } = submission;
  const model = arkModel(endpoint);
  if (model === undefined) throw modelNotFound(endpoint);
  const body = readArkBody(raw);
  const task = await desk.accept(submission, {
    id: desk.newId(() => newId(desk.world.now())),
    model,
    expiresAfterMs: body.execution_expires_after * 1000,
    callbackUrl: body.callback_url,
    detail: settleArk(body, { model, endpoint }, faults),
  });
  return json(200, { id: task.id, safety_identifier: task.detail.safetyIdentifier });
}

/** `cgt-` + China time + five characters. */
function newId(now: number): string {
  const stamp = new Date(now + 8 * 3_600_000).toISOString().replaceAll(/\D/g, '').slice(0, 14);
  return `cgt-${stamp}-${Math.random().toString(36).slice(2, 7).padEnd(5, '0')}`;
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
  const matching = candidates.filter(
    (task) =>
      (model === null || task.detail.endpoint === model) &&
      (tier === null || task.detail.tier === tier) &&
      (status === null || momentOf(task, world.now()).phase === status),
  );
  const onPage = matching.slice((page - 1) * size, page * size);
  return desk.list(call, ids.length > 0 ? onPage : [], (faults) => {
    const items = onPage.map((task) => present(new Job(task, world)));
    const isOfSdk = faults.has('sdk-shape');
    return json(200, { total: matching.length, items: isOfSdk ? items.map(itemOfSdk) : items });
  });
}

function wholeNumber(query: URLSearchParams, field: string, ifAbsent: number): number {
  const value = Number(query.get(field) ?? ifAbsent);
  if (!Number.isInteger(value) || value < 1 || value > pageSizeMax)
    throw invalid(field, `must be within 1 and ${pageSizeMax}`);
  return value;
}

/** What a DELETE does depends on the status: it cancels what is queued, and removes the record of what has ended. */
function remove(desk: ArkDesk, task: Task<ArkDetail>): void {
  const { phase } = momentOf(task, desk.world.now());
  if (phase === 'queued') desk.cancel(task);
  else if (phase === 'cancelled')
    throw arkError(409, 'InvalidAction.CancelledTaskDeletion', 'Cannot delete task because it is cancelled.');
  else if (isFinal(phase)) desk.remove(task);
  else {
    const text = 'Cannot delete task because it is currently running. Wait for it to finish.';
    throw arkError(409, 'InvalidAction.RunningTaskDeletion', text);
  }
}

const outputModerated = {
  code: 'OutputVideoSensitiveContentDetected',
  message: 'The output video may contain sensitive information.',
};

/** The JSON of the GET, the list and the callback alike. */
function present(job: Job<ArkDetail>): Record<string, unknown> {
  const { task, detail, phase, since, faults } = job;
  const { resolution, ratio, frames, seconds, seed } = detail;
  const failure = faults.has('moderation-in-task') ? outputModerated : arkProblems.internal;
  return {
    id: task.id,
    model: task.model,
    status: phase === 'unknown' ? 'post_processing' : phase,
    ...(phase === 'succeeded' ? { error: null, ...result(job) } : {}),
    ...(phase === 'failed' ? { error: arkWords(failure, since) } : {}),
    created_at: inSeconds(task.createdAt),
    updated_at: inSeconds(since),
    ...(phase === 'succeeded'
      ? { seed, resolution, ratio, frames, duration: frames === undefined ? seconds : undefined }
      : {}),
    framespersecond: phase === 'succeeded' ? framesPerSecond : undefined,
    tools: phase === 'succeeded' && detail.webSearch ? [{ type: 'web_search' }] : undefined,
    service_tier: detail.tier,
    execution_expires_after: task.expiresAfterMs / 1000,
    generate_audio: detail.audio,
    draft: detail.draft,
    priority: detail.priority,
    safety_identifier: detail.safetyIdentifier,
  };
}

/** Docs and SDK disagree about list items; this is the SDK's shape. */
function itemOfSdk(item: Record<string, unknown>): Record<string, unknown> {
  const { error, resolution: _resolution, ratio: _ratio, duration: _duration, ...rest } = item;
  return error === null || error === undefined ? rest : { ...rest, failure_reason: error };
}

function result(job: Job<ArkDetail>): Record<string, unknown> {
  const { task, detail, faults, world, since } = job;
  const [video_url] = job.links();
  const look = { format: 'png', tint: detail.seed % 6, marked: true } as const;
  const last_frame_url =
    detail.lastFrame && video_url !== undefined
      ? world.link(task, world.image(detail, look, faults), since)
      : undefined;
  const tokens = Math.floor(job.billed(detail.tokens));
  const tool_usage = detail.webSearch ? { web_search: 1 } : undefined;
  const usage = job.reported({ completion_tokens: tokens, total_tokens: tokens, tool_usage });
  return { content: { video_url, last_frame_url }, usage };
}
