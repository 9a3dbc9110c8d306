import { randomInt } from 'node:crypto';
import { createDialect } from '../dialect.ts';
import type { Call, Dialect } from '../dialect.ts';
import { FaultSet } from '../fault.ts';
import { JobDesk } from '../job-desk.ts';
import { momentOf } from '../task.ts';
import type { Phase, Task } from '../task.ts';
import { bearerToken, json } from '../wire.ts';
import type { Reply } from '../wire.ts';
import type { World } from '../world.ts';
import { confirmedCallback } from './minimax-callback.ts';
import {
  hailuoProblems,
  invalidParams,
  MiniMaxError,
  miniMaxProblems,
  outputModerated,
} from './minimax-error.ts';
import { miniMaxDetail, promptOf, readMiniMaxBody, settleMiniMax } from './minimax-request.ts';
import type { MiniMaxDetail } from './minimax-request.ts';

type MiniMaxTask = Task<MiniMaxDetail>;
type MiniMaxDesk = JobDesk<MiniMaxDetail>;

const knownForMs = 7 * 86_400_000;
const expiresAfterMs = 2 * 86_400_000;
/** It is not stated; a query gives a fresh link. */
const linkSeconds = 6 * 3600;
const tokensPerSecond = 52_078;
const tokensPerPrompt = 13_500;

/** MiniMax v2: H3. */
export function createMiniMaxDialect(world: World): Dialect {
  const desk: MiniMaxDesk = new JobDesk(world, {
    name: 'minimax',
    problems: miniMaxProblems,
    detail: miniMaxDetail,
    recordKeptMs: knownForMs,
    knownForMs,
    // The envelope of a callback is not verified: that of the query, or with docs-shape the bare task.
    callbackBody: (task) => {
      const body = present(task, world);
      return FaultSet.of(task.faults).has('docs-shape') ? body : { task: body };
    },
  });
  return createDialect(desk, {
    prefix: '/minimax/v2',
    noSuchRoute: ({ method, path }) => new MiniMaxError(404, `no such path: ${method} ${path}`),
    routes: {
      'POST /video_generation': (call) => submit(desk, call),
      'GET /query/video_generation': (call) => list(desk, call),
      'GET /query/video_generation/:id': (call) =>
        desk.about('poll', call, { found: (task) => json(200, { task: present(task, world) }) }),
      'DELETE /video_generation/:id': (call) =>
        desk.about('delete', call, { found: (task) => remove(desk, task) }),
    },
  });
}

function submit(desk: MiniMaxDesk, { request }: Call): Promise<Reply> {
  const body = readMiniMaxBody(request.body);
  return desk.create(request, { model: body.model, prompt: promptOf(body) }, async (submission) => {
    const { model, faults } = submission;
    const detail = settleMiniMax(body, model, faults);
    // The status of a plan's limit is not verified: either.
    if (bearerToken(request)?.startsWith('sk-cp-') === true)
      throw new MiniMaxError(faults.has('docs-shape') ? 429 : 402, 'usage limit exceeded', 2056);
    const callbackUrl = await confirmedCallback(body.callback_url, desk.world);
    const id = `${randomInt(100_000_000, 999_999_999)}${randomInt(100_000, 999_999)}`;
    await desk.accept(submission, { id, expiresAfterMs, detail, callbackUrl });
    return json(200, { task_id: id });
  });
}

const words: Readonly<Record<Phase, string>> = {
  queued: 'queued',
  running: 'running',
  succeeded: 'succeeded',
  failed: 'failed',
  expired: 'expired',
  cancelled: 'cancelled',
  unknown: 'postprocessing',
};

function present(task: MiniMaxTask, world: World): Record<string, unknown> {
  const now = world.now();
  const { phase, since } = momentOf(task, now);
  const faults = FaultSet.of(task.faults);
  const { resolution, ratio, seconds: duration } = task.detail;
  const head = { id: task.id, model: task.model, status: words[phase] };
  const tail = {
    created_at: Math.floor(task.createdAt / 1000),
    updated_at: Math.floor(since / 1000),
    task_type: 'generation',
    modality: 'video',
  };
  if (phase === 'failed') return { ...head, error: errorOf(faults), usage: {}, ...tail };
  if (phase !== 'succeeded') return { ...head, ...tail };
  // A new link for each question.
  const url = world.link(task, world.video(task.detail, 0, faults), now, linkSeconds);
  return {
    ...head,
    ...(faults.has('missing-url') ? {} : { content: { url } }),
    resolution,
    duration,
    ratio,
    ...(faults.has('missing-usage') ? {} : { usage: usageOf(task.detail, faults) }),
    ...tail,
  };
}

/** Its code is text or, with docs-shape, a number; `moderation-in-task=input` refuses what was asked for. */
function errorOf(faults: FaultSet): Record<string, unknown> {
  const input = faults.text('moderation-in-task') === 'input';
  const { code, message } = faults.has('moderation-in-task')
    ? input
      ? hailuoProblems.moderated
      : outputModerated
    : hailuoProblems.internal;
  return { code: faults.has('docs-shape') ? code : String(code), message };
}

function usageOf({ seconds, inputSeconds, images, audios }: MiniMaxDetail, faults: FaultSet) {
  const output = Math.ceil(seconds * faults.usageFactor());
  const completion = output * tokensPerSecond;
  return {
    total_seconds: inputSeconds + output,
    input_seconds: inputSeconds,
    output_seconds: output,
    input_image_count: images,
    input_audio_seconds: audios * 6,
    total_tokens: tokensPerPrompt + completion,
    prompt_tokens: tokensPerPrompt,
    completion_tokens: completion,
  };
}

/** Removes a job that waits, and the record of one that ended; not one that runs. */
function remove(desk: MiniMaxDesk, task: MiniMaxTask): Reply {
  const { phase } = momentOf(task, desk.world.now());
  const shortWords = FaultSet.of(task.faults).has('docs-shape');
  if (phase === 'queued') {
    desk.cancel(task);
    return json(200, { task_id: task.id, action: shortWords ? 'cancel' : 'cancelled', status: 'cancelled' });
  }
  if (phase === 'running' || phase === 'unknown' || phase === 'cancelled')
    throw invalidParams(`a task that is ${words[phase]} can be neither cancelled nor deleted`);
  desk.remove(task);
  return json(200, { task_id: task.id, action: shortWords ? 'delete' : 'deleted', status: words[phase] });
}

function list(desk: MiniMaxDesk, call: Call): Promise<Reply> {
  const { query } = call.request;
  const now = desk.world.now();
  const page = wholeNumber(query.get('page_num'), 1);
  const size = wholeNumber(query.get('page_size'), 20);
  const wanted = query.getAll('filter.task_ids');
  const filters = ['status', 'model', 'task_type'].map(
    (name) => [name, query.get(`filter.${name}`)] as const,
  );
  const matching = desk
    .newestFirst()
    .flatMap((task) => desk.find(task.id) ?? [])
    .filter((task) => {
      const facts: Readonly<Record<string, string>> = {
        status: words[momentOf(task, now).phase],
        model: task.model,
        task_type: 'generation',
      };
      if (wanted.length > 0 && !wanted.includes(task.id)) return false;
      return filters.every(([name, value]) => value === null || facts[name] === value);
    });
  return desk.list(call, wanted.length > 0 ? matching : [], () => {
    const items = matching.slice((page - 1) * size, page * size).map((task) => present(task, desk.world));
    return json(200, { items, total: matching.length });
  });
}

function wholeNumber(text: string | null, ifAbsent: number): number {
  const value = Number(text ?? ifAbsent);
  if (!Number.isInteger(value) || value < 1) throw invalidParams('page_num and page_size must be positive');
  return value;
}
