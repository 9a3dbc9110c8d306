import { defined } from '../src/domain/defined.ts';
import { ApplicationFailure, Context } from '@temporalio/activity';
import { pollConcern } from '../src/domain/poll-concern.ts';
import { nextPoll } from '../src/domain/poll-schedule.ts';
import type { NextPoll } from '../src/domain/poll-schedule.ts';
import { guessedTimes } from '../src/domain/render-times.ts';
import type { StayPlace } from '../src/capacity/stay-places.ts';
import { ChannelGoneError } from '../src/routing/channels.ts';
import type { ChannelActivityDeps } from './deps.ts';
import { withRareHeartbeat } from './heartbeat.ts';
import { channelGone } from './open-target.ts';
import { ask, copyMaxMs } from './poll-answer.ts';
import { progressOf, rememberedPolls, worthKeeping } from './poll-memory.ts';
import type { PollMemory } from './poll-memory.ts';
import { attemptSignal, restFor } from './poll-rest.ts';
import { closedJob } from './rescue.ts';
import type { StatusPoller } from './status-poller.ts';
import type { PollInput, PollResult } from './types.ts';

/** An attempt that has a place stays this long; what the copy of a result may need comes on top. */
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
  readonly input: PollInput;
  readonly poller: StatusPoller;
  readonly place: StayPlace | undefined;
  /** Ends the attempt: a cancellation, the worker's shutdown, or somebody who wants the task tried now. */
  readonly signal: AbortSignal;
  readonly endsAt: number;
  /** Nobody has waited for the job yet: the first poll is planned. */
  readonly isFirst: boolean;
  memory: PollMemory;
  /** The job has failed, and what becomes of the task is being written. */
  decides: boolean;
  /** Since when the credential has failed this attempt. */
  troubledSince: number | undefined;
}

/**
 * Waits for the upstream to end the job. One activity for the whole wait: a timer on the server, which is a benign,
 * retryable failure that names its delay, carries the time in which no render ends; then the attempt stays and asks.
 * Waiting costs no history event. Facts reach the projection from here. `isFirst`: what the activity itself would say, except
 * where the same run of it has just submitted the job.
 */
export function createPoll(deps: ChannelActivityDeps) {
  return async function poll(input: PollInput, isFirst = isFirstAttempt()): Promise<PollResult> {
    const { info, cancelled } = Context.current();
    const closed = await closedJob(input, deps);
    if (closed !== undefined) return closed;
    const place = input.last ? undefined : deps.stays.enter(info.taskQueue, input.task);
    const ending = attemptSignal(place);
    const longestMs = Math.max(info.startToCloseTimeoutMs - copyMaxMs, crowdedStayMaxMs);
    const watch: Watch = {
      input,
      poller: openPoller(input, deps),
      place,
      signal: ending.signal,
      endsAt: deps.now() + (place === undefined ? crowdedStayMaxMs : Math.min(stayMaxMs, longestMs)),
      isFirst,
      memory: rememberedPolls(info.heartbeatDetails),
      decides: false,
      troubledSince: undefined,
    };
    try {
      return await withRareHeartbeat(watchUpstream(watch, deps), {
        details: () => worthKeeping(watch.memory),
        // One that stands still in the middle of a decision is not kept alive: another worker decides.
        isQuiet: () => watch.decides,
      });
    } catch (error) {
      if (!watch.signal.aborted) throw error;
      const endedBy = place?.endedBy();
      if (endedBy !== undefined) throw laterFailure(watch, endedBy === 'closed' ? closedDelayMs : delayMinMs);
      return await cancelled;
    } finally {
      ending.forget();
      place?.leave();
    }
  };
}

function openPoller({ candidate, kind }: PollInput, deps: ChannelActivityDeps): StatusPoller {
  try {
    return deps.poller(candidate, kind);
  } catch (error) {
    throw error instanceof ChannelGoneError ? channelGone(error) : error;
  }
}

async function watchUpstream(watch: Watch, deps: ChannelActivityDeps): Promise<PollResult> {
  const { input } = watch;
  if (!input.last && watch.isFirst) await restUntilNext(watch, deps);
  for (;;) {
    const seen = await ask(watch, deps);
    if ('result' in seen) return seen.result;
    const { concern } = watch.memory;
    watch.memory = await noteConcern(seen.memory, input, deps);
    if (input.last) return { kind: 'unfinished' };
    const isNews = watch.memory.errors > 0 && watch.memory.concern !== concern;
    if (isNews || isTroubled(watch, deps)) throw laterFailure(watch, soon(troubledDelayMs, deps));
    await restUntilNext(watch, deps);
  }
}

/**
 * A retry, a reset ("poll now") and the final poll ask at once. A reset counts attempts from 1 again, but not from the time
 * at which the activity was scheduled.
 */
function isFirstAttempt(): boolean {
  const { attempt, scheduledTimestampMs, currentAttemptScheduledTimestampMs } = Context.current().info;
  return attempt === 1 && currentAttemptScheduledTimestampMs === scheduledTimestampMs;
}

/** Throws the failure that is a timer on the server, if the next poll is not for this attempt. */
async function restUntilNext(watch: Watch, deps: ChannelActivityDeps): Promise<void> {
  const { place, endsAt } = watch;
  const { delayMs, isFar } = planNext(watch, deps);
  if (isFar || (isCalledBack(watch) && delayMs > calledBackWaitMaxMs)) throw laterFailure(watch, delayMs);
  if (place === undefined && (delayMs > crowdedWaitMaxMs || deps.now() + delayMs > endsAt)) {
    throw laterFailure(watch, Math.max(delayMs, deps.stays.returnInMs(Context.current().info.taskQueue)));
  }
  if (deps.now() + delayMs > endsAt) throw laterFailure(watch, delayMs);
  await restFor(delayMs, watch.signal);
}

/** Where one request asks about all jobs, the next answer comes as soon as a callback. */
function isCalledBack({ poller }: Watch): boolean {
  return poller.callsBack?.() === true && poller.lists?.() !== true;
}

function planNext({ input, memory, poller }: Watch, deps: ChannelActivityDeps): NextPoll {
  const now = deps.now();
  const kind = { channel: input.candidate.channel, model: input.model, output: input.output };
  const { delayMs, isFar } = nextPoll({
    times: deps.renders.times(kind) ?? guessedTimes(input.expectedSeconds * 1000),
    elapsedMs: Math.max(0, now - input.acceptedAt),
    remainingMs: Math.max(0, input.deadlineAt - now),
    lists: poller.lists?.() ?? false,
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
  input: PollInput,
  deps: ChannelActivityDeps,
): Promise<PollMemory> {
  const { concern: noted, ...known } = memory;
  const now = deps.now();
  const concern = pollConcern({
    errors: memory.errors,
    failingMs: now - (memory.failingSince ?? now),
    isRefused: memory.isRefused ?? false,
    elapsedMs: now - input.acceptedAt,
    expectedMs: input.expectedSeconds * 1000,
  });
  if (concern === noted || input.last) return memory;
  try {
    await deps.tasks.setConcern(input.task, concern);
    const text = progressOf(memory);
    await deps.signalConcern(input.task, concern === undefined ? { text } : { concern, text });
    return concern === undefined ? known : { ...known, concern };
  } catch (error) {
    deps.log.warn({ task: input.task, err: error }, 'could not ask for an operator');
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
