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
/** Operators see a failure only when the attempt ends, so attempts stay short while the credential is failing. */
const troubledStayMaxMs = 30_000;
const troubledDelayMs = 2_000;
const delayMinMs = 100;
/**
 * The delay before the next attempt if this worker is shutting down. Until the server notices the shutdown, it might
 * assign the attempt to this worker, and the attempt would be lost.
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

/** An earlier run may have died after recording that the job will be replaced, so free the job's slot here too. */
async function leaveFailed({ id, state, attempts }: Task, { gate }: ChannelActivityDeps): Promise<void> {
  const failed = isSubmitting(state) ? attempts.findLast(isUpstreamFailure) : undefined;
  if (failed !== undefined) await gate.leave(id, failed);
}

/** Reads the record at the start of an attempt. A retry rereads it, because another worker may have changed it. */
export function lookAtStart(
  { task, rev }: PollInput,
  { tasks }: ChannelActivityDeps,
): Promise<Task | undefined> {
  if (!isFirstAttempt()) tasks.forget(task);
  return tasks.look(task, rev);
}

interface Waiting extends Pick<PollInput, 'expectedSeconds'> {
  /**
   * True if no earlier attempt has waited for the job. The first poll is then scheduled instead of made immediately.
   */
  readonly isFirst: boolean;
  readonly isNew?: boolean;
  readonly elapsed: Watch['elapsed'];
}

/**
 * Waits for the job with a single activity, so waiting adds no events to the history. Early on, when no render can have
 * finished, the attempt fails with a retryable error and the server waits. Later, the attempt stays open and polls.
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
      // Send no heartbeats while the outcome is being written, so that another worker takes over if this one hangs.
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

/** If the next poll does not fit into this attempt, throws a failure that makes the server wait instead. */
async function restUntilNext(watch: Watch, deps: ChannelActivityDeps): Promise<void> {
  const { job, place, begunAt } = watch;
  const poller = deps.poller(job.candidate, job.kind);
  const lists = poller.lists();
  const { delayMs, isFar } = planNext(watch, lists, deps);
  // If one request lists all jobs, a callback would be no faster than the next poll.
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
  // Without a minimum delay, polls would form a tight loop just before the deadline.
  return { delayMs: Math.max(delayMs, delayMinMs), isFar };
}

function isTroubled({ memory, begunAt }: Watch, { now }: ChannelActivityDeps): boolean {
  const { errors, isShared, failingSince = begunAt } = memory;
  return errors > 0 && isShared === true && now() - Math.max(begunAt, failingSince) >= troubledStayMaxMs;
}

/**
 * Raises or withdraws the concern about a slow or failing job. The first poll of each attempt raises it again, because
 * another concern may have replaced it and been withdrawn in the meantime.
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

/** The failure makes the server wait, and its details carry this attempt's state to the next one. */
function stillWaiting({ memory }: Watch, waitMs: number): ApplicationFailure {
  const details = worthKeeping(memory);
  if (details !== undefined) Context.current().heartbeat(details);
  return later('StillWaiting', `${progressOf(memory)}, next in ${Math.round(waitMs / 1000)} s`, waitMs);
}
