import { defined } from '../src/domain/defined.ts';
import { ApplicationFailure, Context } from '@temporalio/activity';
import { z } from 'zod';
import { isLostJob } from '../src/domain/lost-job.ts';
import { pollConcern, pollConcerns } from '../src/domain/poll-concern.ts';
import { nextPollDelayMs } from '../src/domain/poll-schedule.ts';
import { ChannelGoneError, linkHeadersOf } from '../src/routing/channels.ts';
import { UpstreamError } from '../src/providers/provider.ts';
import type { OperationStatus } from '../src/providers/provider.ts';
import type { ChannelActivityDeps } from './deps.ts';
import { withHeartbeat } from './heartbeat.ts';
import { channelGone } from './open-target.ts';
import { closedJob, replaceFailedJob } from './rescue.ts';
import type { PollInput, PollResult } from './types.ts';

/**
 * An attempt stays with short waits this long; a longer wait becomes a retry, which is a durable timer on the server.
 */
const watchWindowMs = 15_000;
const inlineWaitMaxMs = 3_000;
const delayMinMs = 500;
/** How much of an attempt's two minutes, and of the final poll's one, the copy of a result may use. */
const copyMaxMs = 75_000;
const lastCopyMaxMs = 25_000;

/** What an attempt leaves to the next one, and what operators see in the Temporal UI. */
const memorySchema = z.object({
  polls: z.number(),
  errors: z.number(),
  gone: z.number(),
  phase: z.enum(['submitted', 'running']),
  progress: z.number().optional(),
  queuePosition: z.number().optional(),
  /** In words, scrubbed. */
  lastError: z.string().optional(),
  isRefused: z.boolean().optional(),
  lastAt: z.number().optional(),
  /** What operators were asked about. */
  concern: z.enum(pollConcerns).optional(),
  retryAfterMs: z.number().optional(),
});
type Memory = z.infer<typeof memorySchema>;

const newMemory: Memory = { polls: 0, errors: 0, gone: 0, phase: 'submitted' };

/**
 * Waits for the upstream to end the job. One activity for the whole wait: attempts watch for a short window and then
 * throw a benign, retryable failure that names the next delay, so waiting costs no history event. Facts reach the
 * projection from here.
 */
export function createPoll(deps: ChannelActivityDeps) {
  return async function poll(input: PollInput): Promise<PollResult> {
    const context = Context.current();
    const remembered = memorySchema.safeParse(context.info.heartbeatDetails);
    let memory = remembered.success ? remembered.data : newMemory;
    const closed = await closedJob(input, deps);
    if (closed !== undefined) return closed;
    const windowEndsAt = deps.now() + watchWindowMs;
    // A retry, a reset ("poll now") and the final poll ask at once; only the very first attempt plans its first poll.
    let waitMs = isFirstAttempt() && !input.last ? delayAfter(memory, input, deps) : 0;
    for (;;) {
      if (waitMs > inlineWaitMaxMs || deps.now() + waitMs > windowEndsAt) throw laterFailure(memory, waitMs);
      if (waitMs > 0) await withHeartbeat(context.sleep(waitMs), worthKeeping(memory));
      const seen = await ask(input, memory, deps);
      if ('result' in seen) return seen.result;
      memory = await noteConcern(seen.memory, input, deps);
      if (input.last) return { kind: 'unfinished' };
      waitMs = delayAfter(memory, input, deps);
    }
  };
}

/** A reset counts attempts from 1 again, but not from the time at which the activity was scheduled. */
function isFirstAttempt(): boolean {
  const { attempt, scheduledTimestampMs, currentAttemptScheduledTimestampMs } = Context.current().info;
  return attempt === 1 && currentAttemptScheduledTimestampMs === scheduledTimestampMs;
}

/** A heartbeat is a write on the server: not for what the next attempt begins with anyway. */
function worthKeeping(memory: Memory): Memory | undefined {
  return memory === newMemory ? undefined : memory;
}

type Seen = { readonly result: PollResult } | { readonly memory: Memory };

async function ask(input: PollInput, memory: Memory, deps: ChannelActivityDeps): Promise<Seen> {
  try {
    const poller = deps.poller(input.candidate, input.kind);
    const status = await withHeartbeat(poller.status(input, Context.current().cancellationSignal));
    return await record(status, { input, memory }, deps);
  } catch (error) {
    if (error instanceof ChannelGoneError) throw channelGone(error);
    if (!(error instanceof UpstreamError)) throw error;
    return afterError(error, { input, memory }, deps);
  }
}

/** One poll: what is asked about, and what the polls before it have seen. */
interface Poll {
  readonly input: PollInput;
  readonly memory: Memory;
}

async function record(
  status: OperationStatus,
  { input, memory }: Poll,
  deps: ChannelActivityDeps,
): Promise<Seen> {
  const { task } = input;
  const job = { channel: input.candidate.channel, upstreamId: input.operation.id };
  switch (status.state) {
    case 'succeeded': {
      const { facts, cost, traceId } = status;
      const items = await withHeartbeat(
        deps.copyResults(task, status.items, {
          timeoutMs: input.last ? lastCopyMaxMs : copyMaxMs,
          headersFor: linkHeadersOf(deps.channels, { ...input, ...input.candidate }),
        }),
      );
      await deps.tasks.recordOutcome(
        task,
        { kind: 'succeeded', items, facts, ...defined({ cost }) },
        { traceId, job },
      );
      return { result: { kind: 'succeeded', facts } };
    }
    case 'failed': {
      const replaced = await replaceFailedJob(status, input, deps);
      if (replaced !== undefined) return { result: replaced };
      const { code, failure, cost, withheld, traceId } = status;
      const message = `${code}: ${deps.scrub(status.message)}`;
      const outcome = { kind: 'failed', code, message, failure, ...defined({ cost, withheld }) } as const;
      await deps.tasks.recordOutcome(task, outcome, { traceId, job });
      return { result: { kind: 'failed' } };
    }
    case 'pending': {
      const { progress, queuePosition } = status;
      // A status that goes backwards leaves ours where it is.
      const phase = memory.phase === 'running' ? 'running' : status.phase;
      if (phase !== memory.phase) await deps.tasks.markRunning(task, BigInt(input.version));
      const isKnown = progress === memory.progress && queuePosition === memory.queuePosition;
      if (!isKnown) await deps.tasks.recordProgress(task, defined({ progress, queuePosition }));
      return {
        memory: {
          polls: memory.polls + 1,
          errors: 0,
          gone: 0,
          phase,
          lastAt: deps.now(),
          ...defined({ progress, queuePosition, concern: memory.concern }),
        },
      };
    }
    default:
      return status satisfies never;
  }
}

/** Errors never fail a paid job. One that the upstream keeps saying it does not know waits for a person. */
async function afterError(
  error: UpstreamError,
  { input, memory }: Poll,
  deps: ChannelActivityDeps,
): Promise<Seen> {
  const gone = error.gone ? memory.gone + 1 : 0;
  if (input.last) {
    throw ApplicationFailure.create({
      message: `the upstream did not report a state (${error.code})`,
      type: 'PollFailed',
      category: 'BENIGN',
    });
  }
  const elapsedMs = deps.now() - input.acceptedAt;
  if (isLostJob({ misses: gone, elapsedMs, expectedMs: input.expectedSeconds * 1000 })) {
    throw ApplicationFailure.create({
      message: `the upstream does not know the job (${error.code}), which it accepted and may bill`,
      type: 'JobUnknown',
      nonRetryable: true,
    });
  }
  return {
    memory: {
      ...memory,
      polls: memory.polls + 1,
      errors: memory.errors + 1,
      gone,
      lastAt: deps.now(),
      lastError: wordsOf(error, deps),
      isRefused: error.outcome === 'unavailable' || refusedStatuses.has(error.status ?? 0),
      ...defined({ retryAfterMs: error.retryAfterMs }),
    },
  };
}

const refusedStatuses = new Set([401, 402, 403]);
const wordsMax = 200;

function wordsOf(
  { status, code, message }: UpstreamError,
  { scrub }: Pick<ChannelActivityDeps, 'scrub'>,
): string {
  return scrub(`${status === undefined ? '' : `${status} `}${code}: ${message}`).slice(0, wordsMax);
}

/** Asks for a person, or says that none is needed any more: once for each change, and again if that failed. */
async function noteConcern(memory: Memory, input: PollInput, deps: ChannelActivityDeps): Promise<Memory> {
  const { concern: noted, ...known } = memory;
  const concern = pollConcern({
    errors: memory.errors,
    isRefused: memory.isRefused ?? false,
    elapsedMs: deps.now() - input.acceptedAt,
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

function progressOf({ phase, polls, errors, lastError }: Memory): string {
  const failing = errors === 0 ? '' : `, the last ${errors} failed (${lastError ?? 'unknown'})`;
  return `${phase}, ${polls} polls${failing}`;
}

function delayAfter(memory: Memory, input: PollInput, deps: ChannelActivityDeps): number {
  const now = deps.now();
  const planned = nextPollDelayMs({
    expectedMs: input.expectedSeconds * 1000,
    elapsedMs: Math.max(0, now - input.acceptedAt),
    remainingMs: Math.max(0, input.deadlineAt - now),
    errors: memory.errors,
    random: deps.random(),
    ...defined({ progress: memory.progress }),
    ...defined({ retryAfterMs: memory.retryAfterMs }),
  });
  // In its last second the deadline timer decides; nobody polls in a tight loop until then.
  return Math.max(planned, delayMinMs);
}

function laterFailure(memory: Memory, waitMs: number): ApplicationFailure {
  const details = worthKeeping(memory);
  if (details !== undefined) Context.current().heartbeat(details);
  return ApplicationFailure.create({
    message: `${progressOf(memory)}, next in ${Math.round(waitMs / 1000)} s`,
    type: 'StillWaiting',
    nextRetryDelay: Math.max(1, waitMs),
    category: 'BENIGN',
  });
}
