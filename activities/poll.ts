import { setTimeout as sleep } from 'node:timers/promises';
import { Context } from '@temporalio/activity';
import type { ApplicationFailure } from '@temporalio/activity';
import { isUpstreamFailure } from '../src/task/attempt.ts';
import { pollConcern } from '../src/task/poll-concern.ts';
import { nextPoll } from '../src/polling/poll-schedule.ts';
import type { NextPoll } from '../src/polling/poll-schedule.ts';
import { guessedTimes } from '../src/models/render-times.ts';
import type { Task } from '../src/task/record.ts';
import { isPolled, isSubmitting } from '../src/task/state.ts';
import { ChannelGoneError } from '../src/routing/channels.ts';
import { createConcerns } from './concerns.ts';
import type { ChannelActivityDeps } from './deps.ts';
import { countElapsed } from './elapsed.ts';
import { withRareHeartbeat } from './heartbeat.ts';
import { later } from './later.ts';
import { channelGone } from './open-target.ts';
import { ask } from './poll-answer.ts';
import type { Watch } from './poll-answer.ts';
import { newPolls, progressOf, rememberedPolls, worthKeeping } from '../src/polling/poll-memory.ts';
import type { PollMemory } from '../src/polling/poll-memory.ts';
import { viewOf } from './task-view.ts';
import { watchedJob } from '../src/task/watched-job.ts';
import type { WatchedJob } from '../src/task/watched-job.ts';
import type { PollInput, TaskView } from './types.ts';

/** An attempt that has a place stays this long: with the copy of a result, less than its activity's timeout. */
const stayMaxMs = 10 * 60_000;
/** Where the upstream calls back at the end: that ends a back-off at once, but not the rest of an attempt. */
const calledBackWaitMaxMs = 3_000;
/** While the credential fails, an attempt ends from time to time: its failure is what operators see. */
const troubledStayMaxMs = 30_000;
const troubledDelayMs = 2_000;
const delayMinMs = 100;
/** Of a worker that shuts down: until the server knows, it may give the next attempt to it, where it is lost. */
const closedDelayMs = 1_500;

/** Waits for the end of the job that the record names; where it names none, there is nothing to wait for. */
export function createPoll(deps: ChannelActivityDeps) {
  return async function poll(input: PollInput): Promise<TaskView> {
    const elapsed = countElapsed(deps.monotonic);
    const task = await lookAtStart(input, deps);
    const job = task !== undefined && isPolled(task.state) ? watchedJob(task) : undefined;
    const waiting = { ...input, isFirst: isFirstAttempt(), elapsed };
    if (job !== undefined) return viewOf(await watchJob(job, waiting, deps));
    if (task !== undefined) await leaveFailed(task, deps);
    return viewOf(task);
  };
}

/** An earlier run has written that another job takes the failed one's place, and may not have given its slot back. */
async function leaveFailed({ id, state, attempts }: Task, { gate }: ChannelActivityDeps): Promise<void> {
  const failed = isSubmitting(state) ? attempts.findLast(isUpstreamFailure) : undefined;
  if (failed !== undefined) await gate.leave(id, failed);
}

/** The record, at least as new as the workflow knows it. A retry reads it: another worker may have continued. */
export function lookAtStart(
  { task, rev }: PollInput,
  { tasks }: ChannelActivityDeps,
): Promise<Task | undefined> {
  if (!isFirstAttempt()) tasks.forget(task);
  return tasks.look(task, rev);
}

/**
 * Whether the activity runs for the first time: a retry and a reset ("poll now") ask at once. A reset counts attempts
 * from 1 again, but not from the time at which the activity was scheduled.
 */
export function isFirstAttempt(): boolean {
  const { attempt, scheduledTimestampMs, currentAttemptScheduledTimestampMs } = Context.current().info;
  return attempt === 1 && currentAttemptScheduledTimestampMs === scheduledTimestampMs;
}

interface Waiting extends Pick<PollInput, 'expectedSeconds'> {
  /** Nobody has waited for the job yet: the first poll is planned. */
  readonly isFirst: boolean;
  /** The job was accepted by this attempt. */
  readonly isNew?: boolean;
  readonly elapsed: Watch['elapsed'];
}

/**
 * Waits for the upstream to end the job. One activity for the whole wait: a timer on the server, which is a benign,
 * retryable failure that names its delay, carries the time in which no render ends; then the attempt stays and asks.
 * Waiting costs no history event.
 */
export async function watchJob(
  job: WatchedJob,
  { expectedSeconds, isFirst, isNew = false, elapsed }: Waiting,
  deps: ChannelActivityDeps,
): Promise<Task> {
  const { info, cancelled, cancellationSignal } = Context.current();
  const place = deps.stays.enter(info.taskQueue, job.task);
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
      // One that stands still in the middle of a decision is not kept alive: another worker decides.
      isQuiet: () => watch.decides,
    });
  } catch (error) {
    if (!watch.signal.aborted) throw error instanceof ChannelGoneError ? channelGone(error) : error;
    const endedBy = place?.endedBy();
    if (endedBy === undefined) return await cancelled;
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

/** Throws the failure that is a timer on the server, if the next poll is not for this attempt. */
async function restUntilNext(watch: Watch, deps: ChannelActivityDeps): Promise<void> {
  const { job, place, begunAt } = watch;
  const poller = deps.poller(job.candidate, job.kind);
  const lists = poller.lists();
  const { delayMs, isFar } = planNext(watch, lists, deps);
  // Where one request asks about all jobs, the next answer comes as soon as a callback.
  const isCalledBack = poller.callsBack() && !lists && delayMs > calledBackWaitMaxMs;
  const isOver = deps.now() + delayMs > begunAt + stayMaxMs;
  if (isFar || isCalledBack || isOver) throw stillWaiting(watch, delayMs);
  if (place === undefined) {
    throw stillWaiting(watch, Math.max(delayMs, deps.stays.returnInMs(Context.current().info.taskQueue)));
  }
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
  // In its last second the deadline timer decides; nobody polls in a tight loop until then.
  return { delayMs: Math.max(delayMs, delayMinMs), isFar };
}

/** The credential has failed this attempt for a while. */
function isTroubled({ memory, begunAt }: Watch, { now }: ChannelActivityDeps): boolean {
  const { errors, isShared, failingSince = begunAt } = memory;
  return errors > 0 && isShared === true && now() - Math.max(begunAt, failingSince) >= troubledStayMaxMs;
}

/**
 * Asks for a person, or says that none is needed any more: once for each change, and again if that failed. An attempt asks
 * anew: another concern may have come meanwhile, and gone.
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

/** The wait until the next attempt. What was seen is left to it. */
function stillWaiting({ memory }: Watch, waitMs: number): ApplicationFailure {
  const details = worthKeeping(memory);
  if (details !== undefined) Context.current().heartbeat(details);
  return later('StillWaiting', `${progressOf(memory)}, next in ${Math.round(waitMs / 1000)} s`, waitMs);
}
