import { setTimeout as sleep } from 'node:timers/promises';
import { ApplicationFailure, Context } from '@temporalio/activity';
import { isUpstreamFailure } from '../src/domain/attempt.ts';
import { defined } from '../src/domain/defined.ts';
import { pollConcern } from '../src/domain/poll-concern.ts';
import { nextPoll } from '../src/domain/poll-schedule.ts';
import type { NextPoll } from '../src/domain/poll-schedule.ts';
import { guessedTimes } from '../src/domain/render-times.ts';
import type { Task } from '../src/domain/task-record.ts';
import type { StayPlace } from '../src/capacity/stay-places.ts';
import { ChannelGoneError } from '../src/routing/channels.ts';
import type { ChannelActivityDeps } from './deps.ts';
import { withRareHeartbeat } from './heartbeat.ts';
import { channelGone } from './open-target.ts';
import { ask } from './poll-answer.ts';
import { progressOf, rememberedPolls, worthKeeping } from './poll-memory.ts';
import type { PollMemory } from './poll-memory.ts';
import { givenUpView, viewOf, watchedJob } from './task-view.ts';
import type { WatchedJob } from './task-view.ts';
import type { PollInput, TaskView } from './types.ts';

/** An attempt that has a place stays this long: with the copy of a result, less than its activity's timeout. */
const stayMaxMs = 10 * 60_000;
/** One that has none waits only for moments, and comes back later. */
const crowdedStayMaxMs = 15_000;
const crowdedWaitMaxMs = 3_000;
/** Where the upstream calls back at the end: that ends a back-off at once, but not the rest of an attempt. */
const calledBackWaitMaxMs = 3_000;
/** While the credential fails, an attempt ends from time to time: its failure is what operators see. */
const troubledStayMaxMs = 30_000;
const troubledDelayMs = 2_000;
const delayMinMs = 100;
/** Of a worker that shuts down: until the server knows, it may give the next attempt to it, where it is lost. */
const closedDelayMs = 1_500;

/** One attempt. */
interface Watch {
  readonly job: WatchedJob;
  readonly expectedSeconds: number;
  readonly place: StayPlace | undefined;
  /** Ends the attempt: a cancellation, the worker's shutdown, or somebody who wants the task tried now. */
  readonly signal: AbortSignal;
  readonly begunAt: number;
  readonly endsAt: number;
  /** Nobody has waited for the job yet: the first poll is planned. */
  readonly isFirst: boolean;
  memory: PollMemory;
  /** The job has failed, and what becomes of the task is being written. */
  decides: boolean;
  /** Since when the credential has failed this attempt. */
  troubledSince: number | undefined;
}

/** Waits for the end of the job that the record names; where it names none, there is nothing to wait for. */
export function createPoll(deps: ChannelActivityDeps) {
  const watch = createWatch(deps);
  return async function poll({ task: id, rev, expectedSeconds }: PollInput): Promise<TaskView> {
    if (!isFirstAttempt()) deps.tasks.forget(id);
    const task = await deps.tasks.look(id, rev);
    if (task === undefined) return givenUpView;
    const job = task.state.at === 'waiting' ? watchedJob(task) : undefined;
    if (job !== undefined) return watch(job, { expectedSeconds, isFirst: isFirstAttempt() });
    await leaveFailed(task, deps);
    return viewOf(task);
  };
}

/** An earlier run has written that another job takes the failed one's place, and may not have given its slot back. */
async function leaveFailed({ id, state, attempts }: Task, { gate }: ChannelActivityDeps): Promise<void> {
  const failed = state.at === 'submitting' ? attempts.findLast(isUpstreamFailure) : undefined;
  if (failed !== undefined) await gate.leave(id, failed);
}

/**
 * Waits for the upstream to end the job. One activity for the whole wait: a timer on the server, which is a benign,
 * retryable failure that names its delay, carries the time in which no render ends; then the attempt stays and asks.
 * Waiting costs no history event.
 */
export function createWatch(deps: ChannelActivityDeps) {
  return async function watch(
    job: WatchedJob,
    { expectedSeconds, isFirst }: Pick<Watch, 'expectedSeconds' | 'isFirst'>,
  ): Promise<TaskView> {
    const { info, cancelled, cancellationSignal } = Context.current();
    const place = deps.stays.enter(info.taskQueue, job.task);
    const begunAt = deps.now();
    const attempt: Watch = {
      job,
      expectedSeconds,
      place,
      signal: place === undefined ? cancellationSignal : AbortSignal.any([cancellationSignal, place.ending]),
      begunAt,
      endsAt: begunAt + (place === undefined ? crowdedStayMaxMs : stayMaxMs),
      isFirst,
      memory: rememberedPolls(info.heartbeatDetails),
      decides: false,
      troubledSince: undefined,
    };
    try {
      return await withRareHeartbeat(watchUpstream(attempt, deps), {
        details: () => worthKeeping(attempt.memory),
        // One that stands still in the middle of a decision is not kept alive: another worker decides.
        isQuiet: () => attempt.decides,
      });
    } catch (error) {
      if (!attempt.signal.aborted) throw error instanceof ChannelGoneError ? channelGone(error) : error;
      const endedBy = place?.endedBy();
      if (endedBy !== undefined)
        throw laterFailure(attempt, endedBy === 'closed' ? closedDelayMs : delayMinMs);
      return await cancelled;
    } finally {
      place?.leave();
    }
  };
}

async function watchUpstream(watch: Watch, deps: ChannelActivityDeps): Promise<TaskView> {
  if (watch.isFirst) await restUntilNext(watch, deps);
  for (;;) {
    const seen = await ask(watch, deps);
    if ('task' in seen) return viewOf(seen.task);
    const { concern } = watch.memory;
    watch.memory = await noteConcern(seen.memory, watch, deps);
    const isNews = watch.memory.errors > 0 && watch.memory.concern !== concern;
    if (isNews || isTroubled(watch, deps)) throw laterFailure(watch, soon(troubledDelayMs, deps));
    await restUntilNext(watch, deps);
  }
}

/**
 * Whether the activity runs for the first time: a retry and a reset ("poll now") ask at once. A reset counts attempts
 * from 1 again, but not from the time at which the activity was scheduled.
 */
export function isFirstAttempt(): boolean {
  const { attempt, scheduledTimestampMs, currentAttemptScheduledTimestampMs } = Context.current().info;
  return attempt === 1 && currentAttemptScheduledTimestampMs === scheduledTimestampMs;
}

/** Throws the failure that is a timer on the server, if the next poll is not for this attempt. */
async function restUntilNext(watch: Watch, deps: ChannelActivityDeps): Promise<void> {
  const { job, place, endsAt } = watch;
  const poller = deps.poller(job.candidate, job.kind);
  const lists = poller.lists();
  const { delayMs, isFar } = planNext(watch, lists, deps);
  // Where one request asks about all jobs, the next answer comes as soon as a callback.
  const isCalledBack = poller.callsBack() && !lists;
  if (isFar || (isCalledBack && delayMs > calledBackWaitMaxMs)) throw laterFailure(watch, delayMs);
  if (place === undefined && (delayMs > crowdedWaitMaxMs || deps.now() + delayMs > endsAt)) {
    throw laterFailure(watch, Math.max(delayMs, deps.stays.returnInMs(Context.current().info.taskQueue)));
  }
  if (deps.now() + delayMs > endsAt) throw laterFailure(watch, delayMs);
  await sleep(delayMs, undefined, { signal: watch.signal });
}

function planNext(
  { job, expectedSeconds, memory }: Watch,
  lists: boolean,
  deps: ChannelActivityDeps,
): NextPoll {
  const now = deps.now();
  const kind = { channel: job.candidate.channel, model: job.model, output: job.output };
  const { delayMs, isFar } = nextPoll({
    times: deps.renders.times(kind) ?? guessedTimes(expectedSeconds * 1000),
    elapsedMs: Math.max(0, now - job.acceptedAt),
    remainingMs: Math.max(0, job.deadlineAt - now),
    lists,
    polls: memory.polls,
    errors: memory.errors,
    isShared: memory.isShared ?? false,
    random: deps.random(),
    ...defined({ progress: memory.progress, retryAfterMs: memory.retryAfterMs }),
  });
  // In its last second the deadline timer decides; nobody polls in a tight loop until then.
  return { delayMs: Math.max(delayMs, delayMinMs), isFar };
}

function isTroubled(watch: Watch, { now }: ChannelActivityDeps): boolean {
  const { errors, isShared } = watch.memory;
  watch.troubledSince = errors > 0 && isShared === true ? (watch.troubledSince ?? now()) : undefined;
  return watch.troubledSince !== undefined && now() - watch.troubledSince >= troubledStayMaxMs;
}

function soon(delayMs: number, { random }: ChannelActivityDeps): number {
  return Math.round(delayMs * (0.5 + random()));
}

/** Asks for a person, or says that none is needed any more: once for each change, and again if that failed. */
async function noteConcern(
  memory: PollMemory,
  { job, expectedSeconds }: Watch,
  deps: ChannelActivityDeps,
): Promise<PollMemory> {
  const { concern: noted, ...known } = memory;
  const now = deps.now();
  const concern = pollConcern({
    errors: memory.errors,
    failingMs: now - (memory.failingSince ?? now),
    isRefused: memory.isRefused ?? false,
    elapsedMs: now - job.acceptedAt,
    expectedMs: expectedSeconds * 1000,
  });
  if (concern === noted) return memory;
  try {
    if (concern !== undefined) await deps.tasks.setConcern(job.task, concern);
    else if (noted !== undefined) await deps.tasks.withdrawConcern(job.task, noted);
    await deps.signals.concern(job.task, concern);
    return concern === undefined ? known : { ...known, concern };
  } catch (error) {
    deps.log.warn({ task: job.task, err: error }, 'could not ask for an operator');
    return memory;
  }
}

function laterFailure({ memory }: Watch, waitMs: number): ApplicationFailure {
  const details = worthKeeping(memory);
  if (details !== undefined) Context.current().heartbeat(details);
  return ApplicationFailure.create({
    message: `${progressOf(memory)}, next in ${Math.round(waitMs / 1000)} s`,
    type: 'StillWaiting',
    nextRetryDelay: Math.max(1, waitMs),
    category: 'BENIGN',
  });
}
