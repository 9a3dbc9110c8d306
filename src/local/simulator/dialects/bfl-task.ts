import { createHmac } from 'node:crypto';
import { FaultSet } from '../fault.ts';
import { momentOf } from '../task.ts';
import type { Moment, Phase, Task } from '../task.ts';
import type { World } from '../world.ts';
import type { BflDetail } from './bfl-models.ts';

export type BflTask = Task<BflDetail>;

const prefix = '/bfl';
/** A job without a webhook is asked for in the region that renders it, not where it was submitted. */
const regionPath = '/us1/v1/get_result';
const linkSeconds = { older: 600, third: 3600 } as const;
const refusedBefore = 'Request Moderated';
const refusedAfter = 'Content Moderated';
const reasons = { 'Moderation Reasons': ['Protected Content'] };

/** A job whose input did not pass ends as it leaves the queue. */
export function bflMoment(task: BflTask, now: number): Moment {
  const moment = momentOf(task, now);
  const isStarted = moment.phase === 'running' || moment.phase === 'succeeded';
  return isStarted && isInputRefused(FaultSet.of(task.faults)) ? { ...moment, phase: 'failed' } : moment;
}

function isInputRefused(faults: FaultSet): boolean {
  return faults.has('item-moderation') || faults.text('moderation-in-task') === 'input';
}

function word({ detail }: BflTask, phase: Phase, faults: FaultSet): string {
  if (phase === 'succeeded') return 'Ready';
  if (phase === 'unknown') return 'Upscaling';
  if (phase === 'running') return detail.third ? 'Reasoning' : 'Pending';
  if (phase === 'queued') return 'Pending';
  if (isInputRefused(faults)) return refusedBefore;
  if (faults.has('moderation-in-task')) return refusedAfter;
  return faults.has('docs-shape') ? 'Failed' : 'Error';
}

/** The answer to a create; with a webhook there is no address to poll. */
export function presentBflCreated(task: BflTask, world: World): Record<string, unknown> {
  const { id, detail, callbackUrl } = task;
  const faults = FaultSet.of(task.faults);
  const cost = detail.pricedLater || faults.has('missing-usage') ? null : detail.cost / 100;
  if (detail.webhook !== undefined) return { id, status: 'Pending', webhook_url: callbackUrl, cost };
  // The id may be left for the caller to add.
  const query = faults.has('docs-shape') ? '' : `?id=${id}`;
  const output = Math.round((detail.width * detail.height) / 10_485.76) / 100;
  return {
    id,
    polling_url: `${world.parts.origin}${prefix}${regionPath}${query}`,
    cost,
    ...(detail.kind === 'image' ? { input_mp: detail.inputMegapixels, output_mp: output } : {}),
  };
}

/** Whether a job is known where it is asked for. */
export function isKnownAt(task: BflTask, path: string): boolean {
  return (path === regionPath) === (task.detail.webhook === undefined);
}

/** `GET /v1/get_result`: 200 whatever became of the job. `docs-shape`: the word stands in `state`, details are text. */
export function presentBfl(task: BflTask, world: World): Record<string, unknown> {
  const faults = FaultSet.of(task.faults);
  const moment = bflMoment(task, world.now());
  const status = word(task, moment.phase, faults);
  const isOther = faults.has('docs-shape');
  const cost = (task.detail.cost * faults.usageFactor()) / 100;
  return {
    id: task.id,
    ...(isOther ? { state: status } : { status }),
    result: moment.phase === 'succeeded' ? resultOf(task, world, moment, faults) : null,
    progress: null,
    details: failure(task, moment.phase, isOther),
    // For a job whose price the create reported it may be absent here.
    ...(moment.phase !== 'succeeded' || faults.has('missing-usage') || (isOther && !task.detail.pricedLater)
      ? {}
      : { cost }),
  };
}

export function presentBflUnknown(id: string): Record<string, unknown> {
  return { id, status: 'Task not found', result: null, progress: null, details: null };
}

function failure(task: BflTask, phase: Phase, asText: boolean): unknown {
  if (phase !== 'failed' && phase !== 'expired' && phase !== 'cancelled') return null;
  const faults = FaultSet.of(task.faults);
  const isModerated = isInputRefused(faults) || faults.has('moderation-in-task');
  if (isModerated) return asText ? 'Protected Content' : reasons;
  const error = phase === 'failed' ? 'An internal error occurred.' : 'The task took too long.';
  return asText ? error : { error };
}

/** `duration` is how long the rendering took. */
function resultOf(task: BflTask, world: World, moment: Moment, faults: FaultSet): Record<string, unknown> {
  const { prompt, detail, createdAt, queueMs } = task;
  const begin = (createdAt + queueMs) / 1000;
  const end = moment.since / 1000;
  return {
    ...(faults.has('missing-url') ? {} : { sample: sample(task, world, moment.since) }),
    prompt,
    ...(detail.seed === undefined ? {} : { seed: detail.seed }),
    start_time: begin,
    end_time: end,
    duration: end - begin,
    ...(detail.draft ? { draft_cache: bundle(task, world, moment.since) } : {}),
  };
}

function sample(task: BflTask, world: World, since: number): string {
  const { detail } = task;
  const faults = FaultSet.of(task.faults);
  const medium =
    detail.kind === 'video'
      ? world.video(detail, 0, faults)
      : world.image(detail, { format: detail.format, tint: 0, marked: false }, faults);
  return world.link(task, medium, since, detail.third ? linkSeconds.third : linkSeconds.older);
}

/** What a draft is finished from. The vendor's is encrypted; here any bytes serve. */
function bundle(task: BflTask, world: World, since: number): string {
  const faults = FaultSet.of(task.faults);
  const medium = world.image({ width: 64, height: 64 }, { format: 'png', tint: 1, marked: true }, faults);
  return world.link(task, medium, since, linkSeconds.third);
}

/** Only ends are announced, and every failure as `Error`. */
export function bflNews(task: BflTask, world: World): Record<string, unknown> | undefined {
  const now = world.now();
  const { phase } = bflMoment(task, now);
  if (phase === 'queued' || phase === 'running' || phase === 'unknown') return undefined;
  const { id } = task;
  const timestamp = new Date(now).toISOString();
  const faults = FaultSet.of(task.faults);
  if (phase === 'succeeded') return { ...presentBfl(task, world), id, timestamp };
  const message = String(failure(task, phase, true));
  return { id, status: 'Error', error: word(task, phase, faults), message, timestamp };
}

/** Which header carries the proof is not verified: a signature, or with `docs-shape` the secret itself. */
export function signBflNews(body: string, { detail, faults }: BflTask): Record<string, string> {
  const secret = detail.webhook?.secret;
  if (secret === undefined) return {};
  if (FaultSet.of(faults).has('docs-shape')) return { 'x-webhook-secret': secret };
  return { 'x-bfl-signature': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}` };
}
