import { stayMaxMs } from '../src/base/activity-times.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { Context, type ApplicationFailure } from '@temporalio/activity';
import { isUpstreamFailure } from '../src/task/attempt.ts';
import { pollConcern } from '../src/polling/poll-concern.ts';
import { nextPoll, type NextPoll } from '../src/polling/poll-schedule.ts';
import { guessedTimes } from '../src/models/render-times.ts';
import type { Task } from '../src/task/record.ts';
import { isPolled, isSubmitting } from '../src/task/state.ts';
import { ChannelGoneError } from '../src/routing/channels.ts';
import { createConcerns } from './concerns.ts';
import type { ChannelActivityDeps } from './deps.ts';
import { countElapsed, isFirstAttempt, later } from './activity-time.ts';
import { withRareHeartbeat } from './heartbeat.ts';
import { channelGone } from './open-target.ts';
import { ask, type Watch } from './poll-answer.ts';
import { newPolls, progressOf, rememberedPolls, worthKeeping } from '../src/polling/poll-memory.ts';
import type { PollMemory } from '../src/polling/poll-memory.ts';
import { viewOf } from './task-view.ts';
import { watchedJob, type WatchedJob } from '../src/task/watched-job.ts';
import type { PollInput, TaskView } from './types.ts';

/**
 * How long an attempt may wait between polls if the upstream sends callbacks. A callback ends the server's back-off
 * immediately, but cannot interrupt a running attempt.
 */
const calledBackWaitMaxMs = 3_000;
/**
 * How long an attempt may last while its credential is failing. Operators see only the failures of completed attempts.
 */
const troubledStayMaxMs = 30_000;
const troubledDelayMs = 2_000;
const delayMinMs = 100;
/**
 * The delay before the next attempt when a worker shuts down. Until the server notices the shutdown, it may assign that
 * attempt to the same worker, where it would be lost.
 */
const closedDelayMs = 3_000;

export function createPoll(deps: ChannelActivityDeps) {
  return async function poll(input: PollInput): Promise<TaskView> {
    const elapsed = countElapsed(deps.monotonic);
    const task = await lookAtStart(input, deps);
    const job = task !== undefined && isPolled(task.state) ? watchedJob(task) : undefined;
    const waiting = { ...input, isFirst: isFirstAttempt(), elapsed };
    if (job !== undefined) return viewOf(await watchJob(job, waiting, deps), deps);
    if (task !== undefined) await leaveFailed(task, deps);
    return viewOf(task, deps);
  };
}

/** Frees a failed job's slot, in case an earlier run died after recording that the job will be replaced. */
async function leaveFailed({ id, state, attempts }: Task, { gate }: ChannelActivityDeps): Promise<void> {
  const failed = isSubmitting(state) ? attempts.findLast(isUpstreamFailure) : undefined;
  if (failed !== undefined) await gate.leave(id, failed);
}

/**
 * Returns a record that is at least as new as the workflow's view. A retry rereads the record, because another worker
 * may have continued.
 */
export function lookAtStart(
  { task, rev }: PollInput,
  { tasks }: ChannelActivityDeps,
): Promise<Task | undefined> {
  if (!isFirstAttempt()) tasks.forget(task);
  return tasks.look(task, rev);
}

interface Waiting extends Pick<PollInput, 'expectedSeconds'> {
  /** True if no attempt has waited for the job yet. The first poll is then scheduled instead of made immediately. */
  readonly isFirst: boolean;
  readonly isNew?: boolean;
  readonly elapsed: Watch['elapsed'];
}

/**
 * Waits for the job to end, with a single activity for the entire wait. As long as no render can have finished, the
 * wait is a timer on the server: a benign, retryable failure that specifies its delay. Afterwards, the attempt stays
 * open and polls. Waiting adds no events to the history.
 */
export async function watchJob(
  job: WatchedJob,
  { expectedSeconds, isFirst, isNew = false, elapsed }: Waiting,
  deps: ChannelActivityDeps,
): Promise<Task> {
  const { info, cancelled, cancellationSignal } = Context.current();
  const { taskQueue: queue } = info;
  const place = deps.stays.enter({ queue, account: job.account }, job.task);
  const memory = isNew ? newPolls(elapsed()) : rememberedPolls(info.heartbeatDetails);
  const watch: Watch = {
    job,
    expectedMs: expectedSeconds * 1000,
    place,
    signal: anyOf(cancellationSignal, place?.ending),
    asking: anyOf(cancellationSignal, place?.closing),
    begunAt: deps.now(),
    elapsed,
    memory,
    wasReset: info.attempt === 1 && memory.polls > 0,
    decides: false,
  };
  try {
    return await withRareHeartbeat(askUntilEnded(watch, isFirst, deps), {
      details: () => watch.memory,
      // Send no heartbeats while the outcome is being written. If the attempt hangs there, another worker can take
      // over.
      isQuiet: () => watch.decides,
    });
  } catch (error) {
    if (!watch.signal.aborted) throw error instanceof ChannelGoneError ? channelGone(error) : error;
    const endedBy = place?.endedBy();
    if (endedBy === undefined) return await cancelled;
    if (endedBy === 'evicted') throw stillWaiting(watch, deps.stays.returnInMs(queue));
    throw stillWaiting(watch, endedBy === 'closed' ? closedDelayMs : delayMinMs);
  } finally {
    place?.leave();
  }
}

function anyOf(signal: AbortSignal, other: AbortSignal | undefined): AbortSignal {
  return other === undefined ? signal : AbortSignal.any([signal, other]);
}

async function askUntilEnded(watch: Watch, isFirst: boolean, deps: ChannelActivityDeps): Promise<Task> {
  if (isFirst) await restUntilNext(watch, deps);
  for (let isFirstLook = true; ; isFirstLook = false) {
    watch.place?.rests(false);
    const ended = await ask(watch, deps);
    if (ended !== undefined) return ended;
    const { concern } = watch.memory;
    watch.memory = await noteConcern(watch, isFirstLook, deps);
    if (isFirstLook && (watch.wasReset || watch.memory.errors > 0)) Context.current().heartbeat(watch.memory);
    const isNews = watch.memory.errors > 0 && watch.memory.concern !== concern;
    if (isNews || isTroubled(watch, deps)) {
      throw stillWaiting(watch, Math.round(troubledDelayMs * (0.5 + deps.random())));
    }
    await restUntilNext(watch, deps);
  }
}

/**
 * Waits until the next poll if it still fits into this attempt. Otherwise, throws the failure that becomes a timer on
 * the server.
 */
async function restUntilNext(watch: Watch, deps: ChannelActivityDeps): Promise<void> {
  const { job, place, begunAt } = watch;
  const poller = deps.poller(job.candidate, job.kind);
  const lists = poller.lists();
  const { delayMs, isFar } = planNext(watch, lists, deps);
  // If one request covers all jobs, waiting for a callback gains nothing, because the next response arrives just as
  // soon.
  const isCalledBack = poller.callsBack() && !lists && delayMs > calledBackWaitMaxMs;
  const isOver = deps.now() + delayMs > begunAt + stayMaxMs;
  if (isFar || isCalledBack || isOver) throw stillWaiting(watch, delayMs);
  if (place === undefined) {
    throw stillWaiting(watch, Math.max(delayMs, deps.stays.returnInMs(Context.current().info.taskQueue)));
  }
  place.rests(true);
  await sleep(delayMs, undefined, { signal: watch.signal });
}

function planNext({ job, expectedMs, memory }: Watch, lists: boolean, deps: ChannelActivityDeps): NextPoll {
  const now = deps.now();
  const { delayMs, isFar } = nextPoll({
    ...memory,
    times: deps.renders.times(job.render) ?? guessedTimes(expectedMs),
    elapsedMs: Math.max(0, now - job.acceptedAt),
    remainingMs: Math.max(0, job.deadlineAt - now),
    lists,
    random: deps.random(),
  });
  // In the last second before the deadline, the workflow's timer takes over. Until then, do not poll in a tight loop.
  return { delayMs: Math.max(delayMs, delayMinMs), isFar };
}

function isTroubled({ memory, begunAt }: Watch, { now }: ChannelActivityDeps): boolean {
  const { errors, isShared, failingSince = begunAt } = memory;
  return errors > 0 && isShared === true && now() - Math.max(begunAt, failingSince) >= troubledStayMaxMs;
}

/**
 * Raises or withdraws the concern once per change, and retries after a failure. Each attempt starts afresh, because
 * another concern may have been raised and withdrawn in the meantime.
 */
async function noteConcern(
  { job, expectedMs, memory }: Watch,
  isFirstLook: boolean,
  deps: ChannelActivityDeps,
): Promise<PollMemory> {
  const now = deps.now();
  const concern = pollConcern({
    ...memory,
    failingMs: now - (memory.failingSince ?? now),
    elapsedMs: now - job.acceptedAt,
    expectedMs,
  });
  if (concern === memory.concern && (concern === undefined || !isFirstLook)) return memory;
  const { note, withdraw } = createConcerns(deps);
  try {
    if (concern !== undefined) await note(job.task, concern);
    else if (memory.concern !== undefined) await withdraw(job.task, memory.concern);
    return { ...memory, concern };
  } catch (error) {
    deps.log.warn({ task: job.task, err: error }, 'could not ask for an operator');
    return memory;
  }
}

/** Returns the failure that makes the server wait, and passes this attempt's state on to the next one. */
function stillWaiting({ memory }: Watch, waitMs: number): ApplicationFailure {
  const details = worthKeeping(memory);
  if (details !== undefined) Context.current().heartbeat(details);
  return later('StillWaiting', `${progressOf(memory)}, next in ${Math.round(waitMs / 1000)} s`, waitMs);
}
