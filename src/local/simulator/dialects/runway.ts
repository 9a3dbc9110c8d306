import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { createDialect } from '../dialect.ts';
import type { Call, Dialect } from '../dialect.ts';
import { FaultSet } from '../fault.ts';
import { JobDesk } from '../job-desk.ts';
import { isFinal, momentOf } from '../task.ts';
import type { Phase, Task } from '../task.ts';
import { bytes, check, json, parseJson } from '../wire.ts';
import type { Reply, WireRequest } from '../wire.ts';
import type { World } from '../world.ts';
import { invalidField, RunwayError, runwayProblems } from './runway-error.ts';
import type { RunwayPath } from './runway-models.ts';
import { runwayDetail, settleRunway } from './runway-request.ts';
import type { RunwayDetail } from './runway-request.ts';

type RunwayTask = Task<RunwayDetail>;

const version = '2024-11-06';
/** Neither is documented: records outlive everything that is tried here. */
const recordKeptMs = 30 * 86_400_000;
const expiresAfterMs = 2 * recordKeptMs;
const linkSeconds = 86_400;
/** Jobs of one model that run at a time; what is above waits as THROTTLED, and is not an error. */
const slots = 20;

const paths: readonly RunwayPath[] = ['text_to_video', 'image_to_video', 'video_to_video', 'text_to_image'];
const words: Readonly<Record<Phase, string>> = {
  queued: 'PENDING',
  running: 'RUNNING',
  succeeded: 'SUCCEEDED',
  failed: 'FAILED',
  expired: 'FAILED',
  cancelled: 'CANCELLED',
  unknown: 'POST_PROCESSING',
};
const outlineSchema = z.looseObject({ model: z.string(), promptText: z.string().optional() });

/** Runway: videos and images as jobs, without list, callback or marker. */
export function createRunwayDialect(world: World): Dialect {
  const desk = new JobDesk(world, {
    name: 'runway',
    problems: runwayProblems,
    detail: runwayDetail,
    recordKeptMs,
  });
  const versioned = (handle: (call: Call) => Promise<Reply>) => (call: Call) => {
    requireVersion(call.request);
    return handle(call);
  };
  return createDialect(desk, {
    prefix: '/runway',
    noSuchRoute: ({ method, path }) =>
      paths.some((known) => path === `/v1/${known}`)
        ? new RunwayError(405, 'Method not allowed.')
        : new RunwayError(404, `Cannot ${method} ${path}`),
    routes: {
      ...Object.fromEntries(
        paths.map((path) => [`POST /v1/${path}`, versioned((call) => submit(desk, call, path))]),
      ),
      'GET /v1/tasks/:id': versioned((call) =>
        desk.about('poll', call, { found: (task) => json(200, present(desk, task)) }),
      ),
      'DELETE /v1/tasks/:id': versioned((call) =>
        desk.about('delete', call, { found: (task) => remove(desk, task) }),
      ),
    },
  });
}

function requireVersion({ headers }: WireRequest): void {
  if (headers['x-runway-version'] !== version)
    throw new RunwayError(400, `The X-Runway-Version header is required: ${version}.`);
}

function submit(desk: JobDesk<RunwayDetail>, { request }: Call, path: RunwayPath): Promise<Reply> {
  const raw = parseJson(request.body);
  const { model, promptText: prompt = '' } = check(outlineSchema, raw, ({ path: field, reason }) =>
    invalidField(field, reason),
  );
  return desk.create(request, { model, prompt }, async (submission) => {
    const detail = settleRunway(raw, { path, model: submission.model }, submission.faults);
    const task = await desk.accept(submission, { id: randomUUID(), expiresAfterMs, detail });
    const reported = submission.faults.has('missing-usage')
      ? {}
      : { estimatedCost: { credits: detail.charge / 100 } };
    return json(200, { id: task.id, ...reported });
  });
}

/** Cancels what has not ended and deletes the rest. Afterwards it is gone, or with docs-shape shown as CANCELLED. */
function remove(desk: JobDesk<RunwayDetail>, task: RunwayTask): Reply {
  const isOver = isFinal(momentOf(task, desk.world.now()).phase);
  const isShown = FaultSet.of(task.faults).has('docs-shape');
  if (isOver || !isShown) desk.remove(task);
  else desk.cancel(task);
  return bytes(204, Buffer.alloc(0), {});
}

function present(desk: JobDesk<RunwayDetail>, task: RunwayTask): Record<string, unknown> {
  const { world } = desk;
  const now = world.now();
  const { phase, since } = momentOf(task, now);
  const base = { id: task.id, createdAt: new Date(task.createdAt).toISOString(), status: words[phase] };
  const faults = FaultSet.of(task.faults);
  const pending = faults.has('missing-usage')
    ? base
    : { ...base, estimatedCost: { credits: task.detail.charge / 100 } };
  if (phase === 'queued') return isThrottled(desk, task, now) ? { ...pending, status: 'THROTTLED' } : pending;
  if (phase === 'running') {
    const progress = Math.min(0.99, (now - since) / Math.max(1, task.renderMs));
    return { ...pending, progress: Math.round(progress * 100) / 100 };
  }
  const cost = (credits: number) => (faults.has('missing-usage') ? {} : { cost: { credits } });
  if (phase === 'failed' || phase === 'expired') return { ...base, ...failureOf(task, faults, cost) };
  if (phase === 'cancelled') return { ...base, ...cost(0) };
  if (phase !== 'succeeded') return base;
  return {
    ...base,
    output: faults.has('missing-url') ? [] : linksOf(task, world, faults),
    ...cost((task.detail.charge * faults.usageFactor()) / 100),
  };
}

/** Only the age counts: who came first runs first. */
function isThrottled(desk: JobDesk<RunwayDetail>, task: RunwayTask, now: number): boolean {
  const ahead = desk
    .newestFirst()
    .filter(({ model, createdAt }) => model === task.model && createdAt <= task.createdAt)
    .filter((other) => other.id !== task.id && momentOf(other, now).phase === 'running');
  return ahead.length >= slots;
}

/** `failed=<code>` names another code of the vendor. Refused inputs are charged, as documented; the rest is not. */
function failureOf(
  { detail }: RunwayTask,
  faults: FaultSet,
  cost: (credits: number) => Record<string, unknown>,
): Record<string, unknown> {
  const moderated = faults.find('moderation-in-task');
  if (moderated?.argument === 'input') {
    const failure = 'The input did not pass content moderation.';
    return { failure, failureCode: 'SAFETY.INPUT.TEXT', ...cost(detail.charge / 100) };
  }
  if (moderated !== undefined) {
    const failure = 'The output did not pass content moderation.';
    return { failure, failureCode: 'SAFETY.OUTPUT.VIDEO', ...cost(0) };
  }
  const failureCode = faults.text('failed') ?? 'INTERNAL.BAD_OUTPUT.CODE01';
  return { failure: 'An unexpected error occurred.', failureCode, ...cost(0) };
}

/** Fresh links at each question. */
function linksOf(task: RunwayTask, world: World, faults: FaultSet): string[] {
  const { detail } = task;
  const now = world.now();
  if (detail.kind === 'video') return [world.link(task, world.video(detail, 0, faults), now, linkSeconds)];
  return Array.from({ length: detail.images }, (_, tint) =>
    world.link(task, world.image(detail, { format: 'png', tint, marked: false }, faults), now, linkSeconds),
  );
}
