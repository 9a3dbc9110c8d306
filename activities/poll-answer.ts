import { ApplicationFailure } from '@temporalio/activity';
import { defined } from '../src/domain/defined.ts';
import { isLostJob } from '../src/domain/lost-job.ts';
import { UpstreamError } from '../src/providers/provider.ts';
import type { OperationStatus } from '../src/providers/provider.ts';
import { ChannelGoneError, linkHeadersOf } from '../src/routing/channels.ts';
import type { ChannelActivityDeps } from './deps.ts';
import { channelGone } from './open-target.ts';
import { afterFailure, afterPending } from './poll-memory.ts';
import type { Pending, PollMemory } from './poll-memory.ts';
import { replaceFailedJob } from './rescue.ts';
import { CredentialFailure } from './status-poller.ts';
import type { StatusPoller } from './status-poller.ts';
import type { PollInput, PollResult } from './types.ts';

/** How much of an attempt's time, and of the final poll's minute, the copy of a result may use. */
export const copyMaxMs = 75_000;
const lastCopyMaxMs = 25_000;
/** Progress is shown, but not for a write a second. */
const progressEveryMs = 10_000;

/** What is asked about, and what the polls before it have seen. */
interface Asked {
  readonly input: PollInput;
  readonly memory: PollMemory;
}

interface Asking extends Asked {
  /** Set before anything is decided about a job that failed. */
  decides: boolean;
  readonly poller: StatusPoller;
  readonly signal: AbortSignal;
}

export type Seen = { readonly result: PollResult } | { readonly memory: PollMemory };

/** Asks the upstream once, and writes down what it reported. */
export async function ask(watch: Asking, deps: ChannelActivityDeps): Promise<Seen> {
  const { input, memory } = watch;
  try {
    return await record(await watch.poller.status(input, watch.signal), watch, deps);
  } catch (error) {
    if (error instanceof ChannelGoneError) throw channelGone(error);
    const isShared = error instanceof CredentialFailure;
    const reason = isShared ? error.reason : error;
    if (!(reason instanceof UpstreamError)) throw error;
    const words = wordsOf(reason, deps);
    const failed = afterFailure(memory, { error: reason, words, isShared, now: deps.now() });
    failUnlessPatient(reason, failed, { input, deps });
    return { memory: failed };
  }
}

async function record(status: OperationStatus, watch: Asking, deps: ChannelActivityDeps): Promise<Seen> {
  const { input, memory } = watch;
  const { task } = input;
  const job = { channel: input.candidate.channel, upstreamId: input.operation.id };
  switch (status.state) {
    case 'succeeded': {
      learn(status, { input, memory }, deps);
      const { facts, cost, traceId } = status;
      const items = await deps.copyResults(task, status.items, {
        timeoutMs: input.last ? lastCopyMaxMs : copyMaxMs,
        headersFor: linkHeadersOf(deps.channels, { ...input, ...input.candidate }),
      });
      const outcome = { kind: 'succeeded', items, facts, ...defined({ cost }) } as const;
      await deps.tasks.recordOutcome(task, outcome, { traceId, job });
      return { result: { kind: 'succeeded', facts } };
    }
    case 'failed': {
      watch.decides = true;
      const replaced = await replaceFailedJob(status, input, deps);
      if (replaced !== undefined) return { result: replaced };
      const { code, failure, cost, withheld, traceId } = status;
      const message = `${code}: ${deps.scrub(status.message)}`;
      const outcome = { kind: 'failed', code, message, failure, ...defined({ cost, withheld }) } as const;
      await deps.tasks.recordOutcome(task, outcome, { traceId, job });
      return { result: { kind: 'failed' } };
    }
    case 'pending':
      return { memory: await recordPending(status, { input, memory }, deps) };
    default:
      return status satisfies never;
  }
}

/** A job that had ended before the first question took less than we saw: then the next question comes sooner. */
const unseenEndShare = 0.8;

/** What is learned is when the upstream ended the render: an outage, or a late question, says nothing about it. */
function learn(
  { endedAt }: Extract<OperationStatus, { state: 'succeeded' }>,
  { input, memory }: Asked,
  deps: ChannelActivityDeps,
): void {
  const seenMs = deps.now() - input.acceptedAt;
  // Another clock's time is believed within ours.
  const toldMs = endedAt === undefined ? 0 : Math.min(endedAt - input.acceptedAt, seenMs);
  if (toldMs <= 0 && (input.last || memory.errors > 0)) return;
  const renderMs = toldMs > 0 ? toldMs : guessedEnd(seenMs, { input, memory });
  if (renderMs <= 0) return;
  const kind = { channel: input.candidate.channel, model: input.model, output: input.output ?? '' };
  deps.renders.learn(kind, renderMs);
}

/** The render ended at some time since the last question, which found it running. */
function guessedEnd(seenMs: number, { input, memory }: Asked): number {
  if (memory.polls === 0 || memory.lastAt === undefined) return seenMs * unseenEndShare;
  const ranMs = Math.min(Math.max(memory.lastAt - input.acceptedAt, 0), seenMs);
  return (ranMs + seenMs) / 2;
}

async function recordPending(
  status: Pending,
  { input, memory }: Asked,
  deps: ChannelActivityDeps,
): Promise<PollMemory> {
  const now = deps.now();
  const next = afterPending(memory, status, now);
  if (next.phase !== memory.phase) await deps.tasks.markRunning(input.task, BigInt(input.version));
  const { progress, queuePosition } = status;
  const isKnown = progress === memory.progress && queuePosition === memory.queuePosition;
  if (isKnown) return next;
  if (now - (memory.progressAt ?? 0) < progressEveryMs) {
    // What is shown stays what is remembered, so that the difference is written later.
    return { ...next, ...defined({ progress: memory.progress, queuePosition: memory.queuePosition }) };
  }
  await deps.tasks.recordProgress(input.task, defined({ progress, queuePosition }));
  return { ...next, progressAt: now };
}

/** Errors never fail a paid job. One that the upstream keeps saying it does not know waits for a person. */
function failUnlessPatient(
  error: UpstreamError,
  { gone }: PollMemory,
  { input, deps }: { readonly input: PollInput; readonly deps: ChannelActivityDeps },
): void {
  if (input.last) {
    throw ApplicationFailure.create({
      message: `the upstream did not report a state (${error.code})`,
      type: 'PollFailed',
      category: 'BENIGN',
    });
  }
  const elapsedMs = deps.now() - input.acceptedAt;
  if (!isLostJob({ misses: gone, elapsedMs, expectedMs: input.expectedSeconds * 1000 })) return;
  throw ApplicationFailure.create({
    message: `the upstream does not know the job (${error.code}), which it accepted and may bill`,
    type: 'JobUnknown',
    nonRetryable: true,
  });
}

const wordsMax = 200;

function wordsOf(
  { status, code, message }: UpstreamError,
  { scrub }: Pick<ChannelActivityDeps, 'scrub'>,
): string {
  return scrub(`${status === undefined ? '' : `${status} `}${code}: ${message}`).slice(0, wordsMax);
}
