import { createHmac } from 'node:crypto';
import { FaultSet } from '../fault.ts';
import type { Job } from '../job.ts';
import { isFinal } from '../task.ts';
import type { Task } from '../task.ts';
import type { BflDetail } from './bfl-request.ts';

type BflJob = Job<BflDetail>;

/** A job without a webhook is asked for in the region that renders it, not where it was submitted. */
const regionPath = '/us1/v1/get_result';
const linkSeconds = { older: 600, third: 3600 } as const;

/** The phase: a job whose input did not pass ends as it leaves the queue. */
export function phaseOfBfl({ phase, faults }: BflJob): BflJob['phase'] {
  return isInputRefused(faults) && (phase === 'running' || phase === 'succeeded') ? 'failed' : phase;
}

function isInputRefused(faults: FaultSet): boolean {
  return faults.has('item-moderation') || faults.text('moderation-in-task') === 'input';
}

function wordOf(job: BflJob): string {
  const { detail, faults } = job;
  const phase = phaseOfBfl(job);
  if (phase === 'succeeded') return 'Ready';
  if (phase === 'unknown') return 'Upscaling';
  if (phase === 'running' && detail.third) return 'Reasoning';
  if (phase === 'queued' || phase === 'running') return 'Pending';
  if (isInputRefused(faults)) return 'Request Moderated';
  if (faults.has('moderation-in-task')) return 'Content Moderated';
  return faults.has('docs-shape') ? 'Failed' : 'Error';
}

/** The answer to a create; with a webhook there is no address to poll. */
export function presentBflCreated({ task, detail, faults, world }: BflJob): Record<string, unknown> {
  const { id, callbackUrl } = task;
  const cost = detail.pricedLater || faults.has('missing-usage') ? null : detail.cost / 100;
  if (detail.webhook !== undefined) return { id, status: 'Pending', webhook_url: callbackUrl, cost };
  // The id may be left for the caller to add.
  const query = faults.has('docs-shape') ? '' : `?id=${id}`;
  const output_mp = Math.round((detail.width * detail.height) / 10_485.76) / 100;
  return {
    id,
    polling_url: `${world.parts.origin}/bfl${regionPath}${query}`,
    cost,
    ...(detail.images > 0 ? { input_mp: detail.inputMegapixels, output_mp } : {}),
  };
}

/** Whether a job is known where it is asked for. */
export function isKnownAt({ detail }: BflJob, path: string): boolean {
  return (path === regionPath) === (detail.webhook === undefined);
}

/** `GET /v1/get_result`: 200 whatever became of the job. `docs-shape`: the word stands in `state`, details are text. */
export function presentBfl(job: BflJob): Record<string, unknown> {
  const { task, detail, faults } = job;
  const isOther = faults.has('docs-shape');
  const isReady = phaseOfBfl(job) === 'succeeded';
  // For a job whose price the create reported it may be absent here.
  const isPriced = isReady && (!isOther || detail.pricedLater);
  return {
    id: task.id,
    [isOther ? 'state' : 'status']: wordOf(job),
    result: isReady ? resultOf(job) : null,
    progress: null,
    details: failureOf(job, isOther),
    cost: isPriced ? job.reported(job.billed(detail.cost) / 100) : undefined,
  };
}

export function presentBflUnknown(id: string): Record<string, unknown> {
  return { id, status: 'Task not found', result: null, progress: null, details: null };
}

function failureOf(job: BflJob, asText: boolean): unknown {
  const phase = phaseOfBfl(job);
  if (phase === 'succeeded' || !isFinal(phase)) return null;
  const reason = 'Protected Content';
  if (isInputRefused(job.faults) || job.faults.has('moderation-in-task'))
    return asText ? reason : { 'Moderation Reasons': [reason] };
  const error = phase === 'failed' ? 'An internal error occurred.' : 'The task took too long.';
  return asText ? error : { error };
}

/** `duration` is how long the rendering took. */
function resultOf(job: BflJob): Record<string, unknown> {
  const { task, detail, since } = job;
  const begin = (task.createdAt + task.queueMs) / 1000;
  const end = since / 1000;
  const lifetimeSeconds = detail.third ? linkSeconds.third : linkSeconds.older;
  const [sample] = job.links({ lifetimeSeconds, look: { format: detail.format } });
  const { seed } = detail;
  return {
    sample,
    prompt: task.prompt,
    seed,
    start_time: begin,
    end_time: end,
    duration: end - begin,
  };
}

/** Only ends are announced, and every failure as `Error`. */
export function bflNews(job: BflJob): Record<string, unknown> | undefined {
  const phase = phaseOfBfl(job);
  if (!isFinal(phase)) return undefined;
  const { id } = job.task;
  const timestamp = new Date(job.now).toISOString();
  if (phase === 'succeeded') return { ...presentBfl(job), timestamp };
  return { id, status: 'Error', error: wordOf(job), message: failureOf(job, true), timestamp };
}

/** Which header carries the proof is not verified: a signature, or with `docs-shape` the secret itself. */
export function signBflNews(body: string, { detail, faults }: Task<BflDetail>): Record<string, string> {
  const secret = detail.webhook?.secret;
  if (secret === undefined) return {};
  if (FaultSet.of(faults).has('docs-shape')) return { 'x-webhook-secret': secret };
  return { 'x-bfl-signature': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}` };
}
