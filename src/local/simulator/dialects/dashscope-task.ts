import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Problems } from '../desk.ts';
import { rendered } from '../job.ts';
import type { Job } from '../job.ts';
import { phaseWords } from '../task.ts';
import type { Phase } from '../task.ts';
import { json, refusals } from '../wire.ts';

export const dashScopeError = refusals(({ status, code, message }) =>
  json(status, { request_id: randomUUID(), code, message }),
);
export const invalidParameter = (message: string) => dashScopeError(400, 'InvalidParameter', message);
export const dataInspectionFailed = dashScopeError(400, 'DataInspectionFailed', 'Output data may contain inappropriate content.'); // prettier-ignore

export const dashScopeProblems = {
  unauthorized: dashScopeError(401, 'InvalidApiKey', 'Invalid API-key provided.'),
  forbidden: dashScopeError(403, 'Model.AccessDenied', 'Model access denied.'),
  'not-found': dashScopeError(404, 'ModelNotFound', 'Model can not be found.'),
  'rate-limited': dashScopeError(429, 'Throttling.RateQuota', 'Requests rate limit exceeded.'),
  'quota-exhausted': dashScopeError(429, 'Throttling.AllocationQuota', 'Allocated quota exceeded.'),
  moderated: dashScopeError(400, 'DataInspectionFailed', 'Input data may contain inappropriate content.'),
  internal: dashScopeError(500, 'InternalError', 'An internal error has occured, please try again later.'),
  unavailable: dashScopeError(503, 'ModelUnavailable', 'Model is unavailable, please try again later.'),
} satisfies Problems;

/** What a task renders; `refusal` is a parameter mistake, reported only when the task is polled. */
export const dashScopeDetail = z.object({
  ...rendered,
  /** Results in chat form. */
  chat: z.boolean(),
  /** Of the videos that were given. */
  inputSeconds: z.number(),
  ratio: z.string(),
  watermark: z.boolean(),
  extended: z.boolean(),
  /** Newer models report more in `usage`. */
  fullUsage: z.boolean(),
  refusal: z.string().optional(),
});
export type DashScopeDetail = z.infer<typeof dashScopeDetail>;
type DashScopeJob = Job<DashScopeDetail>;

const wordFor = phaseWords('PENDING RUNNING SUCCEEDED FAILED FAILED CANCELED POST_PROCESSING');

/** A task with a wrong parameter fails as soon as somebody looks at it. */
function phaseOf({ phase, detail }: DashScopeJob): Phase {
  return detail.refusal !== undefined && (phase === 'running' || phase === 'succeeded') ? 'failed' : phase;
}

export function wordOf(job: DashScopeJob): string {
  return wordFor(phaseOf(job));
}

/** `GET /tasks/{id}`: 200 whatever became of it. */
export function presentDashScope(job: DashScopeJob): Record<string, unknown> {
  const { task, detail, since } = job;
  const phase = phaseOf(job);
  const isOver = phase === 'succeeded' || phase === 'failed' || phase === 'cancelled';
  const isDone = phase === 'succeeded';
  return {
    request_id: randomUUID(),
    output: {
      task_id: task.id,
      task_status: wordFor(phase),
      submit_time: chinaTime(task.createdAt),
      scheduled_time: phase === 'queued' ? undefined : chinaTime(task.createdAt + task.queueMs),
      end_time: isOver ? chinaTime(since) : undefined,
      ...(phase === 'failed' ? failureOf(job) : {}),
      ...(isDone ? (detail.images === 0 ? videoResult(job) : imageResults(job)) : {}),
    },
    usage: isDone ? job.reported(usageOf(job)) : undefined,
  };
}

/** Of an id that does not exist, or no longer. */
export function presentUnknown(id: string): Record<string, unknown> {
  return { request_id: randomUUID(), output: { task_id: id, task_status: 'UNKNOWN' } };
}

function failureOf({ detail, faults }: DashScopeJob): { code: string; message: string } {
  if (detail.refusal !== undefined) return { code: 'InvalidParameter', message: detail.refusal };
  const { code, message } = faults.has('moderation-in-task')
    ? dataInspectionFailed
    : dashScopeProblems.internal;
  return { code: String(code), message };
}

function promptsOf({ task, detail }: DashScopeJob): Record<string, string> {
  const orig_prompt = task.prompt;
  return detail.extended
    ? { orig_prompt, actual_prompt: `${orig_prompt}, in great detail` }
    : { orig_prompt };
}

function videoResult(job: DashScopeJob): Record<string, unknown> {
  return { ...promptsOf(job), video_url: job.links()[0] };
}

/** Which of the images failed; the others are delivered. */
function failedItems({ faults }: DashScopeJob) {
  const items = [
    ['item-moderation', dataInspectionFailed],
    ['item-error', dashScopeProblems.internal],
  ] as const;
  return new Map(
    items.flatMap(([name, error]) => (faults.has(name) ? [[faults.number(name) ?? 0, error] as const] : [])),
  );
}

function imageResults(job: DashScopeJob): Record<string, unknown> {
  const { detail, faults } = job;
  const failed = failedItems(job);
  if (faults.has('missing-url')) return { results: [] };
  if (detail.chat) return { choices: chatChoices(job), finished: true };
  const results = linksOf(job).map((url, index) => {
    const error = failed.get(index);
    return error === undefined ? { ...promptsOf(job), url } : { code: error.code, message: error.message };
  });
  const bad = results.filter((result) => 'code' in result).length;
  const total = results.length;
  return { results, task_metrics: { TOTAL: total, SUCCEEDED: total - bad, FAILED: bad } };
}

function linksOf(job: DashScopeJob): string[] {
  return job.links({ look: { marked: job.detail.watermark } });
}

/** Results of the models that are asked in messages, synchronous or not. */
export function chatChoices(job: DashScopeJob): readonly unknown[] {
  return linksOf(job).map((image) => ({
    finish_reason: 'stop',
    message: { role: 'assistant', content: [{ image }] },
  }));
}

export function usageOf(job: DashScopeJob): Record<string, unknown> {
  const { chat, width, height, seconds, images, ratio, fullUsage, inputSeconds } = job.detail;
  if (images > 0) {
    const image_count = Math.ceil(job.billed(images - failedItems(job).size));
    return { image_count, ...(chat ? { width, height } : {}) };
  }
  const output = Math.ceil(job.billed(seconds));
  const area = width * height;
  const more = {
    output_video_duration: output,
    input_video_duration: inputSeconds,
    size: `${width}*${height}`,
    video_ratio: ratio,
  };
  const SR = area < 600_000 ? 480 : area < 1_500_000 ? 720 : 1080;
  return { duration: output + inputSeconds, video_count: 1, SR, ...(fullUsage ? more : {}) };
}

/** Local time of China without a zone: `2025-07-27 21:05:15.212`. */
export function chinaTime(milliseconds: number): string {
  return new Date(milliseconds + 8 * 3_600_000).toISOString().replace('T', ' ').slice(0, 23);
}
