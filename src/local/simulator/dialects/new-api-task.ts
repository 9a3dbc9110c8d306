import { FaultSet } from '../fault.ts';
import { momentOf } from '../task.ts';
import type { Moment, Phase, Task } from '../task.ts';
import type { Medium } from '../media/medium.ts';
import { framesPerSecond } from '../world.ts';
import type { World } from '../world.ts';
import type { NewApiDetail } from './new-api-request.ts';

export type NewApiTask = Task<NewApiDetail>;

const failureText = 'The service encountered an unexpected internal error.';
const moderatedText = 'The request failed because the output video may contain sensitive information.';

/** The answer to a submit, in both dialects. */
export function presentSubmit(task: NewApiTask): Record<string, unknown> {
  return {
    id: task.id,
    task_id: task.id,
    object: 'video',
    model: task.model,
    status: 'queued',
    progress: 0,
    created_at: seconds(task.createdAt),
    ...(task.detail.remixedFrom === undefined ? {} : { remixed_from_video_id: task.detail.remixedFrom }),
  };
}

/** `GET /v1/video/generations/{id}`: nested, in capitals; or flat as the documentation has it; or the upstream's own. */
export function presentTask(task: NewApiTask, world: World): Record<string, unknown> {
  const moment = momentOf(task, world.now());
  const faults = FaultSet.of(task.faults);
  const url = urlOf(task, world, moment, faults);
  if (faults.has('ark-shape')) return presentRaw(task, moment, url, faults);
  if (faults.has('docs-shape')) return presentFlat(task, moment, url, faults);
  const legacy = faults.has('legacy-url');
  const failed = errorOf(moment.phase, faults);
  const startsAt = task.createdAt + task.queueMs;
  const data = {
    id: serial(task.id),
    task_id: task.id,
    platform: '54',
    user_id: 3,
    group: 'default',
    channel_id: 7,
    quota: 250_000,
    action: 'generate',
    status: taskStatus(task, moment, world.now()),
    fail_reason: failed?.message ?? (legacy ? (url ?? '') : ''),
    ...(legacy ? {} : { result_url: url ?? '' }),
    submit_time: seconds(task.createdAt),
    start_time: moment.phase === 'queued' ? 0 : seconds(startsAt),
    finish_time: isOver(moment.phase) ? seconds(moment.since) : 0,
    progress: `${percent(task, moment, world.now())}%`,
    properties: { input: task.prompt },
    data: presentRaw(task, moment, url, faults),
  };
  return { code: 'success', message: '', data };
}

/** `GET /v1/videos/{id}`: OpenAI's words, the link in `metadata`. */
export function presentVideo(task: NewApiTask, world: World): Record<string, unknown> {
  const moment = momentOf(task, world.now());
  const faults = FaultSet.of(task.faults);
  const url = urlOf(task, world, moment, faults);
  const error = errorOf(moment.phase, faults);
  return {
    id: task.id,
    object: 'video',
    model: task.model,
    status: videoStatus[moment.phase],
    progress: percent(task, moment, world.now()),
    created_at: seconds(task.createdAt),
    ...(isOver(moment.phase) ? { completed_at: seconds(moment.since) } : {}),
    seconds: String(task.detail.seconds),
    ...(url === undefined ? {} : { metadata: { url } }),
    ...(error === undefined ? {} : { error }),
  };
}

const videoStatus: Readonly<Record<Phase, string>> = {
  queued: 'queued',
  running: 'in_progress',
  succeeded: 'completed',
  failed: 'failed',
  expired: 'failed',
  cancelled: 'failed',
  unknown: 'post_processing',
};

/** The queue has three names, one after the other. */
function taskStatus(task: NewApiTask, { phase }: Moment, now: number): string {
  switch (phase) {
    case 'queued': {
      const share = task.queueMs === 0 ? 1 : (now - task.createdAt) / task.queueMs;
      return share < 1 / 3 ? 'NOT_START' : share < 2 / 3 ? 'SUBMITTED' : 'QUEUED';
    }
    case 'running':
      return 'IN_PROGRESS';
    case 'succeeded':
      return 'SUCCESS';
    case 'unknown':
      return 'POST_PROCESSING';
    case 'failed':
    case 'expired':
    case 'cancelled':
      return 'FAILURE';
  }
}

export function urlOf(task: NewApiTask, world: World, moment: Moment, faults: FaultSet): string | undefined {
  if (moment.phase !== 'succeeded' || faults.has('missing-url')) return undefined;
  return world.link(task, mediumOf(task, world, faults), moment.since);
}

export function mediumOf(task: NewApiTask, world: World, faults: FaultSet): Medium {
  return world.video(task.detail, task.id.length % 6, faults);
}

const rawStatus: Readonly<Record<Phase, string>> = {
  queued: 'queued',
  running: 'running',
  unknown: 'running',
  succeeded: 'succeeded',
  failed: 'failed',
  expired: 'failed',
  cancelled: 'failed',
};

/** The object of the upstream behind the gateway. */
function presentRaw(
  task: NewApiTask,
  moment: Moment,
  url: string | undefined,
  faults: FaultSet,
): Record<string, unknown> {
  const status = rawStatus[moment.phase];
  const tokens = Math.floor((task.detail.tokens ?? 0) * faults.usageFactor());
  const withUsage =
    moment.phase === 'succeeded' && task.detail.tokens !== undefined && !faults.has('missing-usage');
  return {
    id: `cgt-${task.id.slice(5, 25)}`,
    model: task.model,
    status,
    ...(url === undefined ? {} : { content: { video_url: url } }),
    ...(withUsage ? { usage: { completion_tokens: tokens, total_tokens: tokens } } : {}),
    ...(status === 'failed' ? { error: errorOf(moment.phase, faults) } : {}),
    ...(moment.phase === 'succeeded' ? { duration: task.detail.seconds } : {}),
    created_at: seconds(task.createdAt),
    updated_at: seconds(moment.since),
  };
}

const flatStatus: Readonly<Record<Phase, string>> = {
  ...rawStatus,
  running: 'processing',
  unknown: 'post_processing',
};

function presentFlat(
  task: NewApiTask,
  { phase }: Moment,
  url: string | undefined,
  faults: FaultSet,
): Record<string, unknown> {
  const { width, height, seconds: duration } = task.detail;
  return {
    task_id: task.id,
    status: flatStatus[phase],
    ...(url === undefined
      ? {}
      : { url, format: 'mp4', metadata: { duration, fps: framesPerSecond, width, height, seed: 1 } }),
    error: errorOf(phase, faults) ?? null,
  };
}

function errorOf(phase: Phase, faults: FaultSet): { code: string; message: string } | undefined {
  if (phase === 'expired') return { code: 'task_timeout', message: 'task timeout' };
  if (phase !== 'failed') return undefined;
  return faults.has('moderation-in-task')
    ? { code: 'OutputVideoSensitiveContentDetected', message: moderatedText }
    : { code: 'InternalServiceError', message: failureText };
}

function percent(task: NewApiTask, { phase, since }: Moment, now: number): number {
  if (phase === 'queued') return 0;
  if (isOver(phase)) return 100;
  return Math.max(1, Math.min(99, Math.floor((100 * (now - since)) / Math.max(1, task.renderMs))));
}

function isOver(phase: Phase): boolean {
  return phase !== 'queued' && phase !== 'running' && phase !== 'unknown';
}

/** A row number that stays the same for a task. */
function serial(id: string): number {
  return Array.from(id).reduce((sum, character) => (sum * 31 + character.charCodeAt(0)) % 1_000_003, 7);
}

function seconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000);
}
