import { randomUUID } from 'node:crypto';
import { createDialect } from '../dialect.ts';
import type { Call, Dialect } from '../dialect.ts';
import { FaultSet } from '../fault.ts';
import { JobDesk } from '../job-desk.ts';
import { momentOf } from '../task.ts';
import type { Task } from '../task.ts';
import { bearerToken, bytes, json } from '../wire.ts';
import type { Reply } from '../wire.ts';
import type { World } from '../world.ts';
import { noKey, XaiError, xaiProblems } from './xai-error.ts';
import { paintXai } from './xai-image.ts';
import { ticksPerThousandth } from './xai-models.ts';
import { readXaiVideo, xaiDetail } from './xai-request.ts';
import type { XaiDetail, XaiOperation } from './xai-request.ts';

type XaiTask = Task<XaiDetail>;

const recordKeptMs = 7 * 86_400_000;
const expiresAfterMs = 86_400_000;
/** "Temporary": no figure is given. */
const linkSeconds = 3600;

/** xAI: Grok Imagine. Nothing is listed, cancelled or called back. */
export function createXaiDialect(world: World): Dialect {
  const desk = new JobDesk(world, { name: 'xai', problems: xaiProblems, detail: xaiDetail, recordKeptMs });
  const submit = (operation: XaiOperation, { request }: Call): Promise<Reply> => {
    const order = readXaiVideo(operation, request.body);
    return desk.create(request, order, async (submission) => {
      const detail = order.settle(submission.model, submission.faults);
      const task = await desk.accept(submission, { id: randomUUID(), expiresAfterMs, detail });
      return json(200, { request_id: task.id });
    });
  };
  return createDialect(desk, {
    prefix: '/xai/v1',
    keyOf(request) {
      const key = bearerToken(request);
      if (key === undefined) throw noKey;
      return key;
    },
    noSuchRoute: ({ method, path }) =>
      new XaiError(404, 'Some requested entity was not found', `No such path: ${method} ${path}`),
    routes: {
      'POST /videos/generations': (call) => submit('generations', call),
      'POST /videos/edits': (call) => submit('edits', call),
      'POST /videos/extensions': (call) => submit('extensions', call),
      'GET /videos/:id': (call) => desk.about('poll', call, { found: (task) => present(task, world) }),
      'POST /images/generations': (call) => paintXai(desk, call, false),
      'POST /images/edits': (call) => paintXai(desk, call, true),
    },
  });
}

/** 202 as long as it is not over; with docs-shape without a body, and at the end without a word. */
function present(task: XaiTask, world: World): Reply {
  const { phase, since } = momentOf(task, world.now());
  const faults = FaultSet.of(task.faults);
  const isOld = faults.has('docs-shape');
  switch (phase) {
    case 'queued':
    case 'running':
    case 'unknown': {
      if (isOld) return bytes(202, Buffer.alloc(0), {});
      const elapsed = (world.now() - task.createdAt) / (task.queueMs + task.renderMs);
      const progress = Math.min(99, Math.max(0, Math.floor(100 * elapsed)));
      return json(202, { status: phase === 'unknown' ? 'postprocessing' : 'pending', progress });
    }
    case 'succeeded':
      return json(200, { ...(isOld ? {} : { status: 'done' }), ...finished(task, world, since) });
    case 'failed':
      // What was rendered did not pass: it is done all the same.
      if (faults.has('moderation-in-task')) return json(200, { status: 'done', ...refused(task, faults) });
      return json(200, {
        status: 'failed',
        progress: 0,
        error: { code: 'internal_error', message: xaiProblems.internal.message },
      });
    // Nothing cancels.
    case 'cancelled':
    case 'expired':
      return json(200, { status: 'expired', progress: 0 });
    default:
      return phase satisfies never;
  }
}

function finished(task: XaiTask, world: World, since: number): Record<string, unknown> {
  const faults = FaultSet.of(task.faults);
  const { seconds: duration } = task.detail;
  const url = world.link(task, world.video(task.detail, 0, faults), since, linkSeconds);
  const video = { ...(faults.has('missing-url') ? {} : { url }), duration, respect_moderation: true };
  return { progress: 100, model: task.model, video, ...usageOf(task, faults) };
}

/** Whether it is billed is not verified: it is, or with docs-shape it is not. */
function refused(task: XaiTask, faults: FaultSet): Record<string, unknown> {
  const video = { url: '', duration: 0, respect_moderation: false };
  const usage = faults.has('docs-shape') ? { usage: { cost_in_usd_ticks: 0 } } : usageOf(task, faults);
  return { progress: 100, model: task.model, video, ...usage };
}

function usageOf({ detail }: XaiTask, faults: FaultSet): Record<string, unknown> {
  if (faults.has('missing-usage')) return {};
  const ticks = Math.round(detail.charge * ticksPerThousandth * faults.usageFactor());
  return { usage: { cost_in_usd_ticks: ticks } };
}
