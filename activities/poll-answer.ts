import { attemptId } from '../src/base/ids.ts';
import { defined } from '../src/base/defined.ts';
import { isLostJob } from '../src/polling/lost-job.ts';
import { racePoint } from '../src/base/race-point.ts';
import { splitWords, withoutCallersField } from '../src/flight/split-words.ts';
import { isUnbilled } from '../src/task/rescue.ts';
import type { StayPlace } from '../src/capacity/stay-places.ts';
import { behindCode } from '../src/task/task.ts';
import type { ResultItem } from '../src/task/task.ts';
import type { Task, TaskOutcome } from '../src/task/record.ts';
import { isSubmitting } from '../src/task/state.ts';
import type { EventOf } from '../src/task/state.ts';
import { UpstreamError } from '../src/providers/provider.ts';
import type { OperationStatus } from '../src/providers/provider.ts';
import { linkHeadersOf, mustBeCopied } from '../src/routing/channels.ts';
import { needsMeasuring, withMeasured, withMeasuredImages } from '../src/routing/measured-facts.ts';
import type { ChannelActivityDeps } from './deps.ts';
import { persistently } from './persistently.ts';
import { afterFailure, afterPending } from '../src/polling/poll-memory.ts';
import type { Pending, PollMemory } from '../src/polling/poll-memory.ts';
import { CredentialFailure } from '../src/polling/status-poller.ts';
import type { WatchedJob } from '../src/task/watched-job.ts';

/** How much of an attempt's time the copy of a result may use. */
export const copyMaxMs = 75_000;
/** Questions that fail before a link is delivered whose host does not answer: about a minute. */
const silencesMax = 5;
/** Progress is shown, but not for a write a second. */
const progressEveryMs = 10_000;

/** One attempt to wait for the end of a job. */
export interface Watch {
  readonly job: WatchedJob;
  /** The model's usual render time. */
  readonly expectedMs: number;
  readonly place: StayPlace | undefined;
  /** Ends the attempt: a cancellation, the worker's shutdown, or somebody who wants the task tried now. */
  readonly signal: AbortSignal;
  /** Also aborts a poll that is in flight. */
  readonly asking: AbortSignal;
  /** By our clock. */
  readonly begunAt: number;
  /** Lower bound of the activity's age, whatever happens to this machine's clock. Milliseconds. */
  readonly elapsed: () => number;
  memory: PollMemory;
  /** An operator wants to know at once what the next poll finds. */
  readonly wasReset: boolean;
  /** The job has failed, and what becomes of the task is being written. */
  decides: boolean;
}

type Ended = Exclude<OperationStatus, { state: 'pending' }>;
type Succeeded = Extract<OperationStatus, { state: 'succeeded' }>;

/** Asks the upstream once, and writes down what it reported. The record, if that ends the wait. */
export async function ask(watch: Watch, deps: ChannelActivityDeps): Promise<Task | undefined> {
  const { job, memory } = watch;
  try {
    const status = await deps.poller(job.candidate, job.kind).status(job, watch.asking);
    if (status.state === 'pending') {
      watch.memory = await recordPending(status, watch, deps);
      return undefined;
    }
    watch.decides = status.state === 'failed';
    const seenAt = deps.now();
    const elapsedMs = watch.elapsed();
    const askAgain = () => deps.poller(job.candidate, job.kind).status(job, watch.asking);
    const isLast = memory.errors >= silencesMax;
    const task = await recordEnd(status, job, { deps, copyMaxMs, elapsedMs, askAgain, isLast });
    const countedMs = elapsedMs - (memory.acceptedAfterMs ?? 0);
    const renderMs = renderTime(status, watch, { seenMs: seenAt - job.acceptedAt, countedMs });
    if (renderMs > 0) deps.renders.learn(job.render, renderMs);
    return task;
  } catch (error) {
    const isShared = error instanceof CredentialFailure;
    const reason = isShared ? error.reason : error;
    if (!(reason instanceof UpstreamError)) throw error;
    const now = deps.now();
    watch.memory = afterFailure(memory, { error: reason, isShared, now });
    const facts = { elapsedMs: now - job.acceptedAt, expectedMs: watch.expectedMs };
    if (!isLostJob({ misses: watch.memory.gone, ...facts })) return undefined;
    // Errors never fail a paid job. One that the upstream keeps saying it does not know waits for a person.
    return step(job, { kind: 'broken', n: job.n, job: job.operation.id, code: reason.code }, deps);
  }
}

type DeliveredJob = Pick<WatchedJob, 'task' | 'kind' | 'model' | 'candidate'>;
type DeliveryDeps = Pick<
  ChannelActivityDeps,
  'deliver' | 'measure' | 'shapeOf' | 'channels' | 'keepImages' | 'log' | 'now'
> & {
  readonly tasks: Pick<ChannelActivityDeps['tasks'], 'isOutage'>;
};

export interface Delivering {
  readonly deps: DeliveryDeps;
  readonly copyMaxMs: number;
  readonly askAgain: () => Promise<OperationStatus>;
  /** A link that does not answer is delivered: its host may answer its caller. */
  readonly isLast: boolean;
}

interface Recording extends Delivering {
  readonly deps: ChannelActivityDeps;
  /** How long the task has waited for the job in this activity, at least. */
  readonly elapsedMs?: number;
}

/** The upstream has ended the job: the task's end, or another job in its place. */
export async function recordEnd(status: Ended, job: WatchedJob, recording: Recording): Promise<Task> {
  const { task, n, candidate } = job;
  const { deps, elapsedMs } = recording;
  const seenAt = deps.now();
  const outcome =
    status.state === 'succeeded'
      ? {
          ...(await succeeded(status, job, recording)),
          ...defined({ renderedAt: within(status.endedAt, job.acceptedAt, seenAt) }),
        }
      : await failed(status, task, deps);
  const id = attemptId(task, n);
  if (outcome.kind === 'failed') await racePoint('poll.failed', id);
  const event = {
    kind: 'polled',
    n,
    job: job.operation.id,
    outcome,
    unbilled: status.state === 'failed' && isUnbilled(status),
    ...defined({ traceId: status.traceId, elapsedMs }),
  } as const;
  const after = await step(job, event, deps);
  if (isSubmitting(after.state)) {
    deps.log.info({ task, channel: candidate.channel, code: 'failed' }, 'a failed job is replaced');
    await racePoint('poll.closed', id);
    await deps.gate.leave(task, candidate);
  }
  return after;
}

async function step(
  { task }: WatchedJob,
  event: EventOf<'polled' | 'broken'>,
  deps: ChannelActivityDeps,
): Promise<Task> {
  const stepped = await persistently(() => deps.tasks.step(task, event), deps);
  // The next attempt finds out what that means.
  if (stepped.task === undefined) throw new Error(`the record of ${task} is gone`);
  return stepped.task;
}

/** The result, with our own copies of what it links to. A link that is refused leads to fresh ones at once. */
export async function succeeded(
  status: Succeeded,
  job: DeliveredJob,
  delivering: Delivering,
): Promise<TaskOutcome> {
  const first = await deliver(status, job, delivering);
  if (first.why === undefined) return first.outcome;
  const again = await delivering.askAgain();
  const second = again.state === 'succeeded' ? await deliver(again, job, delivering) : first;
  if (second.why === undefined) return second.outcome;
  throw new UpstreamError('unavailable', second.why, { code: 'result_not_delivered' });
}

export interface Delivery {
  readonly outcome: TaskOutcome;
  /** Why callers must not be given it yet, as a sentence. */
  readonly why?: string;
}

/** Delivery is part of the job: each link has been copied or opened before the task succeeds. */
export async function deliver(
  { items, facts, cost }: Pick<Succeeded, 'items' | 'facts' | 'cost'>,
  { task, kind, model, candidate }: DeliveredJob,
  { deps, copyMaxMs: timeoutMs, isLast }: Omit<Delivering, 'askAgain'>,
): Promise<Delivery> {
  const owner = { kind, model, ...candidate };
  const headersFor = linkHeadersOf(deps.channels, owner);
  const copy = () => deps.deliver(task, items, { timeoutMs, channel: candidate.channel, headersFor });
  const { items: delivered, problem } = await persistently(copy, deps);
  const outcome = { kind: 'succeeded', items: delivered, facts, ...defined({ cost }) } as const;
  const isNotCopied = ({ url, stored }: ResultItem) => url !== undefined && stored === undefined;
  const isKept = deps.keepImages !== undefined;
  if (isKept && mustBeCopied(deps.channels, owner) && delivered.some(isNotCopied))
    return { outcome, why: 'The result could not be copied, and its link is of no use to callers.' };
  if (problem === undefined || (problem.evidence === 'silent' && isLast)) {
    if (!needsMeasuring(kind, facts)) return { outcome };
    const { channel } = candidate;
    const measure = (item: ResultItem) => deps.measure({ task, item, channel, headersFor });
    const media = await Promise.all((kind === 'image' ? delivered : delivered.slice(0, 1)).map(measure));
    const shapeOf = (size: string) => deps.shapeOf({ model, channel }, size);
    const measured =
      kind === 'image' ? withMeasuredImages(facts, media) : withMeasured(facts, media[0], shapeOf);
    return { outcome: { ...outcome, facts: measured } };
  }
  return { outcome, why: `A link of the result does not open: ${problem.message}` };
}

async function failed(
  { code, message, failure, unbilled, cost, withheld }: Extract<OperationStatus, { state: 'failed' }>,
  task: string,
  deps: ChannelActivityDeps,
): Promise<TaskOutcome> {
  const asked = await persistently(() => deps.requests.find(task), deps).catch((err: unknown) => {
    if (deps.tasks.isOutage(err)) throw err;
    deps.log.warn({ task, err }, 'the request cannot be read: what the upstream said is withheld');
    return undefined;
  });
  const said = behindCode(code, splitWords(message, asked?.request));
  const typed = withoutCallersField(failure, asked?.request);
  return { kind: 'failed', code, ...said, failure: typed, ...defined({ unbilled, cost, withheld }) };
}

/** Another clock's time, within ours; undefined: none was named. */
function within(named: number | undefined, from: number, to: number): number | undefined {
  return named === undefined ? undefined : Math.min(Math.max(named, from), to);
}

/** A job that had ended before the first question took less than we saw: then the next question comes sooner. */
const unseenEndShare = 0.8;

interface RenderTook {
  /** From the date of acceptance, which another process may have written, to the date of the end. */
  readonly seenMs: number;
  /** By Temporal's clock and a monotonic one. */
  readonly countedMs: number;
}

/** Milliseconds; 0: it is not known. An outage, or a late question, says nothing about when the upstream ended it. */
function renderTime(status: Ended, { job, memory }: Watch, took: RenderTook): number {
  const { seenMs } = took;
  if (status.state === 'failed' || hasJumped(took)) return 0;
  const toldMs = Math.min((status.endedAt ?? 0) - job.acceptedAt, seenMs);
  if (toldMs > 0) return toldMs;
  if (memory.errors > 0) return 0;
  if (memory.polls === 0) return seenMs * unseenEndShare;
  // It ended at some time since the last question, which found it running.
  const ranMs = Math.min(Math.max((memory.lastAt ?? 0) - job.acceptedAt, 0), seenMs);
  return (ranMs + seenMs) / 2;
}

/** By how much the two may differ for other reasons: slow writes, full queues, a busy worker. */
const apartMs = 10_000;
const apartShare = 0.1;

/** One of the clocks was set while the job rendered, or what was counted before has been lost. */
function hasJumped({ seenMs, countedMs }: RenderTook): boolean {
  return Math.abs(seenMs - countedMs) > Math.max(apartMs, apartShare * countedMs);
}

async function recordPending(
  status: Pending,
  { job, memory }: Watch,
  deps: ChannelActivityDeps,
): Promise<PollMemory> {
  const now = deps.now();
  const next = afterPending(memory, status, now);
  if (next.phase !== memory.phase) {
    await deps.tasks.step(job.task, { kind: 'rendering', n: job.n, job: job.operation.id });
  }
  const { progress, queuePosition } = status;
  if (progress === memory.progress && queuePosition === memory.queuePosition) return next;
  if (now - (memory.progressAt ?? 0) < progressEveryMs) {
    // What is shown stays what is remembered, so that the difference is written later.
    return { ...next, progress: memory.progress, queuePosition: memory.queuePosition };
  }
  await deps.tasks.recordProgress(job.task, defined({ progress, queuePosition }));
  return { ...next, progressAt: now };
}
