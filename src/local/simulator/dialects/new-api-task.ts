import { inSeconds } from '../job.ts';
import type { Job } from '../job.ts';
import { isFinal, phaseWords } from '../task.ts';
import type { Task } from '../task.ts';
import { framesPerSecond } from '../world.ts';
import type { NewApiDetail } from './new-api.ts';

type NewApiJob = Job<NewApiDetail>;

/** The answer to a submit, in both dialects. */
export function presentSubmit({ id, model, createdAt }: Task<NewApiDetail>): Record<string, unknown> {
  return {
    id,
    task_id: id,
    object: 'video',
    model,
    status: 'queued',
    progress: 0,
    created_at: inSeconds(createdAt),
  };
}

/** In capitals of the task dialect, of OpenAI's, of the upstream, and of the documentation. */
const taskWord = phaseWords('QUEUED IN_PROGRESS SUCCESS FAILURE FAILURE FAILURE POST_PROCESSING');
const videoWord = phaseWords('queued in_progress completed failed failed failed post_processing');
const rawWord = phaseWords('queued running succeeded failed failed failed running');
const flatWord = phaseWords('queued processing succeeded failed failed failed post_processing');

/** `GET /v1/video/generations/{id}`: nested, in capitals; or flat as the documentation has it; or the upstream's own. */
export function presentTask(job: NewApiJob): Record<string, unknown> {
  const { task, phase, since, faults } = job;
  if (faults.has('ark-shape')) return presentRaw(job);
  if (faults.has('docs-shape')) return presentFlat(job);
  const isLegacy = faults.has('legacy-url');
  const url = urlOf(job) ?? '';
  const data = {
    id: serial(task.id),
    task_id: task.id,
    platform: '54',
    user_id: 3,
    group: 'default',
    channel_id: 7,
    quota: 250_000,
    action: 'generate',
    status: phase === 'queued' ? queueWord(job) : taskWord(phase),
    fail_reason: errorOf(job)?.message ?? (isLegacy ? url : ''),
    result_url: isLegacy ? undefined : url,
    submit_time: inSeconds(task.createdAt),
    start_time: phase === 'queued' ? 0 : inSeconds(task.createdAt + task.queueMs),
    finish_time: isFinal(phase) ? inSeconds(since) : 0,
    progress: `${percent(job)}%`,
    properties: { input: task.prompt },
    data: presentRaw(job),
  };
  return { code: 'success', message: '', data };
}

/** `GET /v1/videos/{id}`: OpenAI's words, the link in `metadata`. */
export function presentVideo(job: NewApiJob): Record<string, unknown> {
  const { task, phase, since } = job;
  const url = urlOf(job);
  return {
    id: task.id,
    object: 'video',
    model: task.model,
    status: videoWord(phase),
    progress: percent(job),
    created_at: inSeconds(task.createdAt),
    completed_at: isFinal(phase) ? inSeconds(since) : undefined,
    seconds: String(task.detail.seconds),
    metadata: url === undefined ? undefined : { url },
    error: errorOf(job),
  };
}

/** The queue has three names, one after the other. */
function queueWord({ task, now }: NewApiJob): string {
  const share = task.queueMs === 0 ? 1 : (now - task.createdAt) / task.queueMs;
  return share < 1 / 3 ? 'NOT_START' : share < 2 / 3 ? 'SUBMITTED' : 'QUEUED';
}

function urlOf(job: NewApiJob): string | undefined {
  return job.phase === 'succeeded' ? job.links()[0] : undefined;
}

/** The object of the upstream behind the gateway. */
function presentRaw(job: NewApiJob): Record<string, unknown> {
  const { task, detail, phase, since } = job;
  const status = rawWord(phase);
  const video_url = urlOf(job);
  const tokens = Math.floor(job.billed(detail.tokens ?? 0));
  const isCounted = phase === 'succeeded' && detail.tokens !== undefined;
  return {
    id: `cgt-${task.id.slice(5, 25)}`,
    model: task.model,
    status,
    content: video_url === undefined ? undefined : { video_url },
    usage: isCounted ? job.reported({ completion_tokens: tokens, total_tokens: tokens }) : undefined,
    error: errorOf(job),
    duration: phase === 'succeeded' ? detail.seconds : undefined,
    created_at: inSeconds(task.createdAt),
    updated_at: inSeconds(since),
  };
}

function presentFlat(job: NewApiJob): Record<string, unknown> {
  const { task, detail, phase } = job;
  const { width, height, seconds: duration } = detail;
  const url = urlOf(job);
  const metadata = { duration, fps: framesPerSecond, width, height, seed: 1 };
  return {
    task_id: task.id,
    status: flatWord(phase),
    ...(url === undefined ? {} : { url, format: 'mp4', metadata }),
    error: errorOf(job) ?? null,
  };
}

function errorOf({ phase, faults }: NewApiJob): { code: string; message: string } | undefined {
  if (phase === 'expired') return { code: 'task_timeout', message: 'task timeout' };
  if (phase !== 'failed') return undefined;
  if (!faults.has('moderation-in-task'))
    return { code: 'InternalServiceError', message: 'The service encountered an unexpected internal error.' };
  const message = 'The request failed because the output video may contain sensitive information.';
  return { code: 'OutputVideoSensitiveContentDetected', message };
}

function percent(job: NewApiJob): number {
  return job.phase === 'running'
    ? Math.max(1, Math.floor(100 * job.progress()))
    : Math.floor(100 * job.progress());
}

/** A row number that stays the same for a task. */
function serial(id: string): number {
  return Array.from(id).reduce((sum, character) => (sum * 31 + character.charCodeAt(0)) % 1_000_003, 7);
}
