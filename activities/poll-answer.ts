import { copyTimes } from '../src/base/activity-times.ts';
import { attemptId } from '../src/base/ids.ts';
import { defined } from '../src/base/defined.ts';
import { isLostJob } from '../src/polling/lost-job.ts';
import { racePoint } from '../src/base/race-point.ts';
import { splitWords, withoutCallersField } from '../src/flight/split-words.ts';
import { isUnbilled } from '../src/task/rescue.ts';
import type { StayPlace } from '../src/capacity/stay-places.ts';
import { behindCode, type ResultItem } from '../src/task/task.ts';
import type { Task, TaskOutcome } from '../src/task/record.ts';
import { isSubmitting, type EventOf } from '../src/task/state.ts';
import { UpstreamError, type OperationStatus } from '../src/providers/provider.ts';
import { linkHeadersOf, mustBeCopied } from '../src/routing/channels.ts';
import type { ChannelActivityDeps } from './deps.ts';
import { measureDelivery, type MeasuredJob, type MeasuringDeps } from './measure.ts';
import { persistently } from './persistently.ts';
import { afterFailure, afterPending, type Pending, type PollMemory } from '../src/polling/poll-memory.ts';
import { CredentialFailure } from '../src/polling/status-poller.ts';
import type { WatchedJob } from '../src/task/watched-job.ts';

/** After this many failed polls, which take about a minute, a link is delivered even if its host does not respond. */
const silencesMax = 5;
/** Without this limit, a task could cause a write every second. */
const progressEveryMs = 10_000;

export interface Watch {
  readonly job: WatchedJob;
  readonly expectedMs: number;
  readonly place: StayPlace | undefined;
  /** Ends the attempt if the task is cancelled, the worker shuts down, or an operator asks for an immediate retry. */
  readonly signal: AbortSignal;
  /** Aborts a request in flight if the task is cancelled or the worker shuts down. */
  readonly asking: AbortSignal;
  /** Unix milliseconds by this machine's clock. */
  readonly begunAt: number;
  /** The activity's age in milliseconds, by a monotonic clock. */
  readonly elapsed: () => number;
  memory: PollMemory;
  readonly wasReset: boolean;
  decides: boolean;
}

type Ended = Exclude<OperationStatus, { state: 'pending' }>;
type Succeeded = Extract<OperationStatus, { state: 'succeeded' }>;

export async function ask(watch: Watch, deps: ChannelActivityDeps): Promise<Task | undefined> {
  const { job, memory } = watch;
  try {
    const askAgain = () => deps.poller(job.candidate, job.kind).status(job, watch.asking);
    const status = await askAgain();
    if (status.state === 'pending') {
      watch.memory = await recordPending(status, watch, deps);
      return undefined;
    }
    watch.decides = status.state === 'failed';
    const seenAt = deps.now();
    const elapsedMs = watch.elapsed();
    const isLast = memory.errors >= silencesMax;
    const task = await recordEnd(status, job, {
      deps,
      copyMaxMs: copyTimes.pollMs,
      elapsedMs,
      askAgain,
      isLast,
    });
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
    // A poll error never fails the task, because the job is already billed. If the upstream keeps reporting the job as
    // unknown, an operator decides.
    return step(job, { kind: 'broken', n: job.n, job: job.operation.id, code: reason.code }, deps);
  }
}

type DeliveryDeps = MeasuringDeps &
  Pick<ChannelActivityDeps, 'deliver' | 'keepImages' | 'now'> & {
    readonly tasks: Pick<ChannelActivityDeps['tasks'], 'isOutage'>;
  };

export interface Delivering {
  readonly deps: DeliveryDeps;
  readonly copyMaxMs: number;
  readonly askAgain: () => Promise<OperationStatus>;
  /**
   * True for the last try. The link is then delivered even if its host does not respond to us, because it may still
   * respond to the caller.
   */
  readonly isLast: boolean;
}

interface Recording extends Delivering {
  readonly deps: ChannelActivityDeps;
  readonly elapsedMs?: number;
}

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
  // Fail this attempt. The next one rereads the record and ends the activity.
  if (stepped.task === undefined) throw new Error(`the record of ${task} is gone`);
  return stepped.task;
}

/** Replaces linked files with our own copies. If a link is refused, asks the upstream for new links immediately. */
export async function succeeded(
  status: Succeeded,
  job: MeasuredJob,
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
  readonly why?: string;
}

/** Copies or opens every link before the task succeeds, because callers must be able to fetch what they pay for. */
export async function deliver(
  { items, facts, cost }: Pick<Succeeded, 'items' | 'facts' | 'cost'>,
  job: MeasuredJob,
  { deps, copyMaxMs: timeoutMs, isLast }: Omit<Delivering, 'askAgain'>,
): Promise<Delivery> {
  const { task, kind, model, candidate } = job;
  const owner = { kind, model, ...candidate };
  const headersFor = linkHeadersOf(deps.channels, owner);
  const copy = () => deps.deliver(task, items, { timeoutMs, channel: candidate.channel, headersFor });
  const { items: delivered, problem } = await persistently(copy, deps);
  const outcome = { kind: 'succeeded', items: delivered, facts, ...defined({ cost }) } as const;
  const isNotCopied = ({ url, stored }: ResultItem) => url !== undefined && stored === undefined;
  const isKept = deps.keepImages !== undefined;
  if (isKept && mustBeCopied(deps.channels, owner) && delivered.some(isNotCopied))
    return { outcome, why: 'The result could not be copied, and callers cannot use its link.' };
  if (problem === undefined || (problem.evidence === 'silent' && isLast)) {
    const measured = await measureDelivery(facts, { items: delivered, job }, deps);
    return { outcome: { ...outcome, facts: measured } };
  }
  return { outcome, why: `A result URL could not be opened: ${problem.message}` };
}

async function failed(
  { code, message, failure, unbilled, cost, withheld }: Extract<OperationStatus, { state: 'failed' }>,
  task: string,
  deps: ChannelActivityDeps,
): Promise<TaskOutcome> {
  const asked = await persistently(() => deps.requests.find(task), deps).catch((err: unknown) => {
    if (deps.tasks.isOutage(err)) throw err;
    deps.log.warn({ task, err }, 'the request cannot be read, so the upstream’s message is withheld');
    return undefined;
  });
  const said = behindCode(code, splitWords(message, asked?.request));
  const typed = withoutCallersField(failure, asked?.request);
  return { kind: 'failed', code, ...said, failure: typed, ...defined({ unbilled, cost, withheld }) };
}

/** Clamps a time from another clock to a range on our own clock. */
function within(named: number | undefined, from: number, to: number): number | undefined {
  return named === undefined ? undefined : Math.min(Math.max(named, from), to);
}

/**
 * If a job has already ended at its first poll, it took less time than measured. Recording a lower time makes the next
 * job's first poll earlier.
 */
const unseenEndShare = 0.8;

interface RenderTook {
  readonly seenMs: number;
  readonly countedMs: number;
}

/**
 * Returns how long the render took, in milliseconds. Returns 0 after an outage or a late poll, because the end of the
 * render is then unknown.
 */
function renderTime(status: Ended, { job, memory }: Watch, took: RenderTook): number {
  const { seenMs } = took;
  if (status.state === 'failed' || hasJumped(took)) return 0;
  const toldMs = Math.min((status.endedAt ?? 0) - job.acceptedAt, seenMs);
  if (toldMs > 0) return toldMs;
  if (memory.errors > 0) return 0;
  if (memory.polls === 0) return seenMs * unseenEndShare;
  // The job ended at some time between the last poll that found it running and this one, so assume the midpoint.
  const ranMs = Math.min(Math.max((memory.lastAt ?? 0) - job.acceptedAt, 0), seenMs);
  return (ranMs + seenMs) / 2;
}

/** How far the two durations in `RenderTook` may differ because of slow writes, full queues or busy workers. */
const apartMs = 10_000;
const apartShare = 0.1;

/** Returns true if a clock changed during the render or if the earlier count was lost. */
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
    // Keep the values that callers currently see, so that a later poll still detects the change and writes it.
    return { ...next, progress: memory.progress, queuePosition: memory.queuePosition };
  }
  await deps.tasks.recordProgress(job.task, defined({ progress, queuePosition }));
  return { ...next, progressAt: now };
}
