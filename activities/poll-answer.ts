import { ApplicationFailure } from '@temporalio/activity';
import { attemptId } from '../src/domain/ids.ts';
import { defined } from '../src/domain/defined.ts';
import { isLostJob } from '../src/domain/lost-job.ts';
import { racePoint } from '../src/domain/race-point.ts';
import { isUnbilled } from '../src/domain/rescue.ts';
import type { ResultItem } from '../src/domain/task.ts';
import type { Task, TaskOutcome } from '../src/domain/task-record.ts';
import { UpstreamError } from '../src/providers/provider.ts';
import type { OperationStatus } from '../src/providers/provider.ts';
import { linkHeadersOf, mustBeCopied } from '../src/routing/channels.ts';
import type { ChannelActivityDeps } from './deps.ts';
import { elapsedBefore } from './elapsed.ts';
import { persistently } from './persistently.ts';
import { afterFailure, afterPending } from './poll-memory.ts';
import type { Pending, PollMemory } from './poll-memory.ts';
import { CredentialFailure } from './status-poller.ts';
import type { WatchedJob } from './task-view.ts';

/** How much of an attempt's time the copy of a result may use. */
export const copyMaxMs = 75_000;
/** Progress is shown, but not for a write a second. */
const progressEveryMs = 10_000;

/** What is asked about, and what the polls before it have seen. */
interface Asked {
  readonly job: WatchedJob;
  readonly expectedSeconds: number;
  readonly memory: PollMemory;
}

interface Asking extends Asked {
  /** Of the attempt, by our clock. */
  readonly begunAt: number;
  /** Set before anything is decided about a job that failed. */
  decides: boolean;
  readonly signal: AbortSignal;
}

export type Seen = { readonly task: Task } | { readonly memory: PollMemory };

/** Asks the upstream once, and writes down what it reported. */
export async function ask(watch: Asking, deps: ChannelActivityDeps): Promise<Seen> {
  const { job, memory } = watch;
  try {
    const status = await deps.poller(job.candidate, job.kind).status(job, watch.signal);
    if (status.state === 'pending') return { memory: await recordPending(status, watch, deps) };
    watch.decides = status.state === 'failed';
    const elapsedMs = elapsedBefore() + deps.now() - watch.begunAt;
    const task = await recordEnd(status, job, { deps, copyMaxMs, elapsedMs });
    if (status.state === 'succeeded') learn(status, watch, deps);
    return { task };
  } catch (error) {
    const isShared = error instanceof CredentialFailure;
    const reason = isShared ? error.reason : error;
    if (!(reason instanceof UpstreamError)) throw error;
    const failed = afterFailure(memory, { error: reason, isShared, now: deps.now() });
    return isUnknown(watch, failed, deps) ? breakOff(watch, reason, deps) : { memory: failed };
  }
}

export interface Recording {
  readonly deps: ChannelActivityDeps;
  readonly copyMaxMs: number;
  /** How long the task has waited for the job in this activity, at least. */
  readonly elapsedMs?: number;
}

/** The upstream has ended the job: the task's end, or another job in its place. */
export async function recordEnd(
  status: Exclude<OperationStatus, { state: 'pending' }>,
  job: WatchedJob,
  { deps, copyMaxMs: timeoutMs, elapsedMs }: Recording,
): Promise<Task> {
  const { task, n, candidate } = job;
  const seenAt = deps.now();
  const outcome =
    status.state === 'succeeded'
      ? {
          ...(await succeeded(status, job, { deps, copyMaxMs: timeoutMs })),
          ...defined({ renderedAt: within(status.endedAt, job.acceptedAt, seenAt) }),
        }
      : failed(status, deps);
  const id = attemptId(task, n);
  if (outcome.kind === 'failed') await racePoint('poll.failed', id);
  const unbilled = status.state === 'failed' && isUnbilled(status);
  const event = {
    kind: 'polled',
    n,
    job: job.operation.id,
    outcome,
    unbilled,
    ...defined({ traceId: status.traceId, elapsedMs }),
  } as const;
  const stepped = await persistently(() => deps.tasks.step(task, event), deps);
  if (stepped.task === undefined) throw new Error(`the record of ${task} is gone`);
  if (stepped.task.state.at === 'submitting') {
    deps.log.info({ task, channel: candidate.channel, code: 'failed' }, 'a failed job is replaced');
    await racePoint('poll.closed', id);
    await deps.gate.leave(task, candidate);
  }
  return stepped.task;
}

/** The result, with our own copies of what it links to. */
export async function succeeded(
  { items, facts, cost }: Pick<Extract<OperationStatus, { state: 'succeeded' }>, 'items' | 'facts' | 'cost'>,
  { task, kind, model, candidate }: Pick<WatchedJob, 'task' | 'kind' | 'model' | 'candidate'>,
  { deps, copyMaxMs: timeoutMs }: Recording,
): Promise<TaskOutcome> {
  const owner = { kind, model, ...candidate };
  const headersFor = linkHeadersOf(deps.channels, owner);
  const copy = () => deps.copyResults(task, items, { timeoutMs, headersFor });
  const copied = await persistently(copy, deps);
  // Delivery is part of the job: the next question brings fresh links.
  if (deps.keepsResults && mustBeCopied(deps.channels, owner) && copied.some(isNotCopied)) throw notCopied();
  return { kind: 'succeeded', items: copied, facts, ...defined({ cost }) };
}

function isNotCopied({ url, stored }: ResultItem): boolean {
  return url !== undefined && stored === undefined;
}

function notCopied(): UpstreamError {
  const message = 'The result could not be copied, and its link is of no use to callers.';
  return new UpstreamError('unavailable', message, { code: 'result_not_copied' });
}

function failed(
  { code, message, failure, unbilled, cost, withheld }: Extract<OperationStatus, { state: 'failed' }>,
  { scrub }: Pick<ChannelActivityDeps, 'scrub'>,
): TaskOutcome {
  return {
    kind: 'failed',
    code,
    message: `${code}: ${scrub(message)}`,
    failure,
    ...defined({ unbilled, cost, withheld }),
  };
}

/** Another clock's time, within ours; undefined: none was named. */
function within(named: number | undefined, from: number, to: number): number | undefined {
  return named === undefined ? undefined : Math.min(Math.max(named, from), to);
}

/** A job that had ended before the first question took less than we saw: then the next question comes sooner. */
const unseenEndShare = 0.8;

/** What is learned is when the upstream ended the render: an outage, or a late question, says nothing about it. */
function learn(
  { endedAt }: Extract<OperationStatus, { state: 'succeeded' }>,
  asked: Asked,
  deps: ChannelActivityDeps,
): void {
  const { job, memory } = asked;
  const seenMs = deps.now() - job.acceptedAt;
  const toldMs = (within(endedAt, job.acceptedAt, job.acceptedAt + seenMs) ?? 0) - job.acceptedAt;
  if (toldMs <= 0 && memory.errors > 0) return;
  const renderMs = toldMs > 0 ? toldMs : guessedEnd(seenMs, asked);
  if (renderMs <= 0) return;
  const kind = { channel: job.candidate.channel, model: job.model, output: job.output };
  deps.renders.learn(kind, renderMs);
}

/** The render ended at some time since the last question, which found it running. */
function guessedEnd(seenMs: number, { job, memory }: Asked): number {
  if (memory.polls === 0 || memory.lastAt === undefined) return seenMs * unseenEndShare;
  const ranMs = Math.min(Math.max(memory.lastAt - job.acceptedAt, 0), seenMs);
  return (ranMs + seenMs) / 2;
}

async function recordPending(
  status: Pending,
  { job, memory }: Asked,
  deps: ChannelActivityDeps,
): Promise<PollMemory> {
  const now = deps.now();
  const next = afterPending(memory, status, now);
  if (next.phase !== memory.phase) await deps.tasks.markRunning(job.task);
  const { progress, queuePosition } = status;
  const isKnown = progress === memory.progress && queuePosition === memory.queuePosition;
  if (isKnown) return next;
  if (now - (memory.progressAt ?? 0) < progressEveryMs) {
    // What is shown stays what is remembered, so that the difference is written later.
    return { ...next, ...defined({ progress: memory.progress, queuePosition: memory.queuePosition }) };
  }
  await deps.tasks.recordProgress(job.task, defined({ progress, queuePosition }));
  return { ...next, progressAt: now };
}

/** Errors never fail a paid job. One that the upstream keeps saying it does not know waits for a person. */
function isUnknown(
  { job, expectedSeconds }: Asked,
  { gone }: PollMemory,
  { now }: ChannelActivityDeps,
): boolean {
  const elapsedMs = now() - job.acceptedAt;
  return isLostJob({ misses: gone, elapsedMs, expectedMs: expectedSeconds * 1000 });
}

async function breakOff({ job }: Asked, { code }: UpstreamError, deps: ChannelActivityDeps): Promise<Seen> {
  const stepped = await deps.tasks.step(job.task, { kind: 'broken', n: job.n, job: job.operation.id, code });
  if (stepped.task !== undefined) return { task: stepped.task };
  throw ApplicationFailure.nonRetryable(`the record of ${job.task} is gone`);
}
