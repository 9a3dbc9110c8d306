import { ApplicationFailure, Context } from '@temporalio/activity';
import { z } from 'zod';
import { taskProviderFor } from '../src/routing/channels.ts';
import type { OpenChannel } from '../src/routing/channels.ts';
import { UpstreamError } from '../src/providers/provider.ts';
import type { Submitted } from '../src/providers/provider.ts';
import { attemptId } from '../src/domain/ids.ts';
import type { Barrier } from '../src/capacity/submit-gate.ts';
import type { AttemptDocument } from '../src/store/attempts.ts';
import type { RequestRecord } from '../src/store/requests.ts';
import type { ChannelActivityDeps } from './deps.ts';
import { beating } from './heartbeat.ts';
import type { SubmitInput, SubmitResult } from './types.ts';

/** What a heartbeat carries once the upstream has accepted: enough to go on if this worker dies before it is written. */
const acceptedSchema = z.object({ operation: z.object({ id: z.string() }).catchall(z.string()) });

function upstreamErrorOnly(error: unknown): UpstreamError {
  if (error instanceof UpstreamError) return error;
  throw error;
}

const persistEveryMs = 1_000;
const persistMaxMs = 240_000;

/** The database may be away for minutes while the upstream's answer is in our hands. */
async function persistently<Result>(write: () => Promise<Result>): Promise<Result> {
  const endsAt = Date.now() + persistMaxMs;
  for (;;) {
    try {
      return await write();
    } catch (error) {
      if (Date.now() > endsAt) throw error;
      await new Promise((resolve) => void setTimeout(resolve, persistEveryMs));
    }
  }
}

const retryDelayMinMs = 1_000;
const retryDelayMaxMs = 60_000;

/**
 * One submission, at most once: the attempt's record is written before the request leaves and again when the answer
 * is read. A repeated run of this activity reads the record first and never posts what may have been accepted.
 */
export function createSubmit(deps: ChannelActivityDeps) {
  const { attempts, requests } = deps;

  return async function submit(input: SubmitInput): Promise<SubmitResult> {
    const { candidate } = input;
    const channel = openChannel(deps, candidate.channel);
    const id = attemptId(input.task, input.n);
    const submitMs = channel.config.timeouts.submit_ms;
    const barrier = await deps.gate.enter({ ...input, submitMs });
    if (barrier !== undefined) return notNow(barrier, input, deps);
    await beating(deps.submitLimiter(candidate).take(Context.current().cancellationSignal));
    const [stored, begun] = await Promise.all([
      requests.find(input.task),
      attempts.begin({ task: input.task, n: input.n, ...candidate, marker: markerOf(input) }),
    ]);
    if (begun !== undefined) return resume(begun, input, deps);
    if (stored === undefined) {
      await attempts.end(id, 'rejected', {
        code: 'request_missing',
        message: 'the request document is gone',
      });
      return { kind: 'rejected', code: 'request_missing' };
    }
    // From here on nothing interrupts: not a cancellation, not a shutdown. The answer must be read.
    const answer = await beating(send(input, stored, channel).catch(upstreamErrorOnly));
    const target = { ...candidate, model: input.model };
    void deps.gate.report(target, answer instanceof UpstreamError ? answer : undefined);
    if (answer instanceof UpstreamError) return refuse(id, input, answer);
    // The id of a job that is billed is in no one's hands but ours: on record twice, and written until it is written.
    return beating(
      persistently(() => accept(id, input, answer, deps)),
      { operation: answer.operation },
    );
  };

  async function send(input: SubmitInput, stored: RequestRecord, channel: OpenChannel): Promise<Submitted> {
    const provider = taskProviderFor(channel.provider, input.kind);
    if (provider === undefined)
      throw new UpstreamError('unavailable', 'the adapter lost the capability', { code: 'no_adapter' });
    const signal = AbortSignal.timeout(channel.config.timeouts.submit_ms);
    const mayCallBack =
      deps.publicUrl !== undefined && channel.config.callbacks && provider.parseCallback !== undefined;
    return provider.submit(stored.request, {
      ...channel.context(input.candidate.credential, input.model, signal),
      marker: markerOf(input),
      remainingSeconds: Math.max(1, Math.floor((input.deadlineAt - deps.now()) / 1000)),
      ...(mayCallBack
        ? { callbackUrl: `${deps.publicUrl}/callbacks/upstream/${input.task}/${stored.callbackToken}` }
        : {}),
    });
  }

  async function refuse(id: string, input: SubmitInput, error: UpstreamError): Promise<SubmitResult> {
    const { code } = error;
    const message = deps.scrub(error.message);
    switch (error.outcome) {
      case 'not_sent':
      case 'throttled':
      case 'unavailable':
        await attempts.end(id, 'not_accepted', { code, message });
        return persistOrGiveUp(input, error, deps);
      case 'rejected':
        await attempts.end(id, 'rejected', { code, message });
        await deps.tasks.recordOutcome(input.task, {
          kind: 'failed',
          code,
          message: `${code}: ${message}`,
          failure: error.failure,
        });
        return { kind: 'rejected', code };
      case 'ambiguous':
        await attempts.end(id, 'ambiguous', { code, message });
        return { kind: 'ambiguous', code };
      default:
        return error.outcome satisfies never;
    }
  }
}

/** Tries the same channel again later, at no cost in history events, or lets the workflow turn to the next one. */
async function persistOrGiveUp(
  input: SubmitInput,
  error: Pick<UpstreamError, 'code' | 'retryAfterMs'>,
  deps: ChannelActivityDeps,
): Promise<SubmitResult> {
  const { attempt, currentAttemptScheduledTimestampMs, scheduledTimestampMs } = Context.current().info;
  const since = scheduledTimestampMs ?? currentAttemptScheduledTimestampMs;
  const left = since + input.persistMs - deps.now();
  const wished = Math.max(error.retryAfterMs ?? 0, retryDelayMinMs * 2 ** Math.min(attempt, 6));
  const delay = Math.min(wished, error.retryAfterMs ?? retryDelayMaxMs) * (0.8 + 0.4 * deps.random());
  if (delay >= left) {
    await deps.gate.leave(input.task);
    return { kind: 'not_accepted', code: error.code };
  }
  throw ApplicationFailure.create({
    message: `the channel does not accept now (${error.code}); trying again`,
    type: 'NotAccepted',
    nextRetryDelay: Math.max(Math.round(delay), retryDelayMinMs),
    category: 'BENIGN',
  });
}

/** The channel is full, or its circuit is open. Nothing was sent, unless by an earlier run: the record is read first. */
async function notNow(
  barrier: Barrier,
  input: SubmitInput,
  deps: ChannelActivityDeps,
): Promise<SubmitResult> {
  const begun = await deps.attempts.find(attemptId(input.task, input.n));
  if (begun !== undefined && begun.state !== 'not_accepted') return resume(begun, input, deps);
  switch (barrier.kind) {
    case 'elsewhere':
      return { kind: 'not_accepted', code: 'at_concurrency_limit' };
    case 'circuit_open':
      return persistOrGiveUp(input, { code: 'circuit_open', retryAfterMs: barrier.retryAfterMs }, deps);
    case 'full':
      throw ApplicationFailure.create({
        message: 'every channel of the plan is at its concurrency limit; the task waits for its turn',
        type: 'AtConcurrencyLimit',
        nextRetryDelay: barrier.ms,
        category: 'BENIGN',
      });
    default:
      return barrier satisfies never;
  }
}

/** What a record says that an earlier run of this attempt left behind. */
async function resume(
  begun: AttemptDocument,
  input: SubmitInput,
  deps: ChannelActivityDeps,
): Promise<SubmitResult> {
  switch (begun.state) {
    case 'accepted':
      if (begun.operation === undefined) throw new Error('an accepted attempt has an operation');
      return accept(begun._id, input, { operation: begun.operation }, deps);
    case 'rejected':
      return { kind: 'rejected', code: begun.code ?? '' };
    case 'not_accepted':
      return { kind: 'not_accepted', code: begun.code ?? '' };
    case 'sending':
    case 'ambiguous': {
      const remembered = acceptedSchema.safeParse(Context.current().info.heartbeatDetails);
      if (remembered.success) return accept(begun._id, input, remembered.data, deps);
      // It may have been sent, and may be billed.
      return { kind: 'ambiguous', code: begun.code ?? 'submission_lost' };
    }
    default:
      return begun.state satisfies never;
  }
}

async function accept(
  id: string,
  input: SubmitInput,
  submitted: Submitted,
  deps: ChannelActivityDeps,
): Promise<SubmitResult> {
  const { operation, traceId = operation.id } = submitted;
  const ours = await deps.attempts.accept(id, operation);
  if (!ours) return { kind: 'ambiguous', code: 'upstream_id_taken' };
  await deps.tasks.markSubmitted(input.task, {
    ...input.candidate,
    version: BigInt(input.version),
    upstreamId: operation.id,
    traceId,
  });
  return { kind: 'accepted', operation };
}

/** Recognises the job of an attempt in the upstream's list; derived from the task's id, never from a run's. */
function markerOf({ task, n }: SubmitInput): string {
  return `${task.replace(/^task_/, 'mediary-')}-${n}`;
}

export function openChannel(deps: Pick<ChannelActivityDeps, 'channels'>, id: string): OpenChannel {
  const channel = deps.channels(id);
  if (channel !== undefined) return channel;
  throw ApplicationFailure.create({ message: `gateway.yaml has no channel ${id}`, type: 'ChannelGone' });
}

/** How far before and after an attempt the upstream's clock may put its job. */
const clockSkewMs = 120_000;

/**
 * Looks for the job of a submission whose answer got lost, by the marker that it carried; or adopts the job that an
 * operator names. Throws (and is tried again) while an upstream that can list does not show it yet.
 */
export function createFindLostJob(deps: ChannelActivityDeps) {
  return async function findLostJob(input: SubmitInput): Promise<SubmitResult> {
    const id = attemptId(input.task, input.n);
    const begun = await deps.attempts.find(id);
    if (begun === undefined) return { kind: 'not_accepted', code: 'never_sent' };
    if (begun.state !== 'sending' && begun.state !== 'ambiguous') return resume(begun, input, deps);
    if (input.adopt !== undefined) return accept(id, input, { operation: { id: input.adopt } }, deps);
    const channel = openChannel(deps, input.candidate.channel);
    const provider = taskProviderFor(channel.provider, input.kind);
    const stored = provider?.find === undefined ? undefined : await deps.requests.find(input.task);
    if (provider?.find === undefined || stored === undefined)
      return { kind: 'ambiguous', code: begun.code ?? 'submission_lost' };
    const signal = AbortSignal.timeout(channel.config.timeouts.poll_ms);
    const found = await beating(
      provider.find(
        {
          request: stored.request,
          marker: begun.marker,
          sentAfter: begun.started_at - clockSkewMs,
          sentBefore: (begun.ended_at ?? deps.now()) + clockSkewMs,
        },
        channel.context(input.candidate.credential, input.model, signal),
      ),
    );
    const [job] = found;
    if (job !== undefined && found.length === 1) return accept(id, input, job, deps);
    throw ApplicationFailure.create({
      message: `${found.length} upstream jobs carry the marker ${begun.marker}`,
      type: 'JobNotFound',
      category: 'BENIGN',
    });
  };
}
