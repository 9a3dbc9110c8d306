import { randomUUID } from 'node:crypto';
import { FaultSet } from '../fault.ts';
import { momentOf } from '../task.ts';
import type { Moment, Phase, Task } from '../task.ts';
import type { World } from '../world.ts';
import { dashScopeProblems, dataInspectionFailed } from './dashscope-error.ts';
import { resolutionOf } from './dashscope-models.ts';
import type { DashScopeDetail } from './dashscope-request.ts';

export type DashScopeTask = Task<DashScopeDetail>;

const words: Readonly<Record<Phase, string>> = {
  queued: 'PENDING',
  running: 'RUNNING',
  succeeded: 'SUCCEEDED',
  failed: 'FAILED',
  expired: 'FAILED',
  cancelled: 'CANCELED',
  unknown: 'POST_PROCESSING',
};

/** A task with a wrong parameter fails as soon as somebody looks at it. */
export function phaseOf(task: DashScopeTask, now: number): Moment {
  const moment = momentOf(task, now);
  const isStarted = moment.phase === 'running' || moment.phase === 'succeeded';
  return task.detail.refusal !== undefined && isStarted ? { ...moment, phase: 'failed' } : moment;
}

export function statusOf(task: DashScopeTask, now: number): string {
  return words[phaseOf(task, now).phase];
}

/** `GET /tasks/{id}`: 200 whatever became of it. */
export function presentDashScopeTask(task: DashScopeTask, world: World): Record<string, unknown> {
  const moment = phaseOf(task, world.now());
  const faults = FaultSet.of(task.faults);
  const { phase } = moment;
  const times = {
    submit_time: chinaTime(task.createdAt),
    ...(phase === 'queued' ? {} : { scheduled_time: chinaTime(task.createdAt + task.queueMs) }),
    ...(phase === 'succeeded' || phase === 'failed' || phase === 'cancelled'
      ? { end_time: chinaTime(moment.since) }
      : {}),
  };
  const output = { task_id: task.id, task_status: words[phase], ...times };
  if (phase === 'failed')
    return { request_id: randomUUID(), output: { ...output, ...failure(task, faults) } };
  if (phase !== 'succeeded') return { request_id: randomUUID(), output };
  const results =
    task.detail.kind === 'video'
      ? videoResult(task, world, faults, moment)
      : imageResults(task, world, faults, moment);
  return {
    request_id: randomUUID(),
    output: { ...output, ...results },
    ...(faults.has('missing-usage') ? {} : { usage: usageOf(task, faults) }),
  };
}

/** Of an id that does not exist, or no longer. */
export function presentUnknown(id: string): Record<string, unknown> {
  return { request_id: randomUUID(), output: { task_id: id, task_status: 'UNKNOWN' } };
}

function failure(task: DashScopeTask, faults: FaultSet): { code: string; message: string } {
  if (task.detail.refusal !== undefined) return { code: 'InvalidParameter', message: task.detail.refusal };
  const { code, message } = faults.has('moderation-in-task')
    ? dataInspectionFailed
    : dashScopeProblems.internal;
  return { code, message };
}

function prompts({ prompt, detail }: DashScopeTask): Record<string, string> {
  return { orig_prompt: prompt, ...(detail.extended ? { actual_prompt: `${prompt}, in great detail` } : {}) };
}

function videoResult(
  task: DashScopeTask,
  world: World,
  faults: FaultSet,
  { since }: Moment,
): Record<string, unknown> {
  return {
    ...prompts(task),
    ...(faults.has('missing-url')
      ? {}
      : { video_url: world.link(task, world.video(task.detail, 0, faults), since) }),
  };
}

/** Which of the images failed; the others are delivered. */
function failures(faults: FaultSet): ReadonlyMap<number, { code: string; message: string }> {
  const failed = new Map<number, { code: string; message: string }>();
  if (faults.has('item-moderation')) failed.set(faults.number('item-moderation') ?? 0, dataInspectionFailed);
  if (faults.has('item-error')) failed.set(faults.number('item-error') ?? 0, dashScopeProblems.internal);
  return failed;
}

function imageLink(task: DashScopeTask, world: World, index: number, since: number): string {
  const { width, height, watermark } = task.detail;
  const medium = world.image(
    { width, height },
    { format: 'png', tint: index, marked: watermark },
    FaultSet.of(task.faults),
  );
  return world.link(task, medium, since);
}

function imageResults(
  task: DashScopeTask,
  world: World,
  faults: FaultSet,
  { since }: Moment,
): Record<string, unknown> {
  const total = task.detail.images;
  if (faults.has('missing-url')) return { results: [] };
  if (task.detail.chat) return { choices: chatChoices(task, world, since), finished: true };
  const failed = failures(faults);
  const results = Array.from({ length: total }, (_, index) => {
    const problem = failed.get(index);
    if (problem !== undefined) return { code: problem.code, message: problem.message };
    return { ...prompts(task), url: imageLink(task, world, index, since) };
  });
  const bad = results.filter((result) => 'code' in result).length;
  return { results, task_metrics: { TOTAL: total, SUCCEEDED: total - bad, FAILED: bad } };
}

/** Results of the models that are asked in messages, synchronous or not. */
export function chatChoices(task: DashScopeTask, world: World, since: number): readonly unknown[] {
  return Array.from({ length: task.detail.images }, (_, index) => ({
    finish_reason: 'stop',
    message: { role: 'assistant', content: [{ image: imageLink(task, world, index, since) }] },
  }));
}

export function usageOf(task: DashScopeTask, faults: FaultSet): Record<string, unknown> {
  const { kind, chat, width, height, seconds, images, ratio, fullUsage, inputSeconds = 0 } = task.detail;
  const factor = faults.usageFactor();
  if (kind === 'image') {
    const image_count = Math.ceil((images - failures(faults).size) * factor);
    return { image_count, ...(chat ? { width, height } : {}) };
  }
  const rendered = Math.ceil(seconds * factor);
  const duration = rendered + inputSeconds;
  const size = `${width}*${height}`;
  const more = {
    output_video_duration: rendered,
    input_video_duration: inputSeconds,
    size,
    video_ratio: ratio,
  };
  return { duration, video_count: 1, SR: resolutionOf(size), ...(fullUsage ? more : {}) };
}

/** Local time of China without a zone: `2025-07-27 21:05:15.212`. */
export function chinaTime(milliseconds: number): string {
  return new Date(milliseconds + 8 * 3_600_000).toISOString().replace('T', ' ').slice(0, 23);
}
