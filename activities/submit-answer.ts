import { ApplicationFailure, Context } from '@temporalio/activity';
import type { UpstreamError } from '../src/providers/provider.ts';
import type { Attempt, RefusedState, Refusal as AttemptWord } from '../src/store/attempts.ts';
import { newAttempt, rejected, resume } from './attempt-record.ts';
import type { ChannelActivityDeps } from './deps.ts';
import { withHeartbeat } from './heartbeat.ts';
import { noteWait } from './note-wait.ts';
import { persistently } from './persistently.ts';
import type { SubmitInput, SubmitResult } from './types.ts';

/** What follows when a submission was not accepted: the record, then another try or another channel. */

const retryDelayMinMs = 1_000;
const retryDelayMaxMs = 60_000;

/** The right of one run of the activity to send one attempt. */
export interface Claim {
  readonly id: string;
  readonly owner: string;
  readonly input: SubmitInput;
  readonly deps: ChannelActivityDeps;
}

/** A worker that stood still before the request left gives its claim back. */
export async function recordStall(claim: Claim): Promise<SubmitResult> {
  const { input, deps } = claim;
  const message = 'The worker stood still before the request left; nothing was sent.';
  const record = await write(claim, 'not_accepted', { code: 'worker_stalled', message });
  if (record !== undefined) return resume(record, input, deps);
  throw ApplicationFailure.create({ message, type: 'WorkerStalled', category: 'BENIGN' });
}

/** Records why the upstream did not accept, and decides what follows from it. */
export async function recordRefusal(claim: Claim, error: UpstreamError): Promise<SubmitResult> {
  const { input, deps } = claim;
  const { code } = error;
  const failure = { code, message: deps.scrub(error.message) };
  switch (error.outcome) {
    case 'not_sent':
    case 'throttled':
    case 'unavailable': {
      const record = await write(claim, 'not_accepted', failure);
      if (record !== undefined) return resume(record, input, deps);
      return retryOrLeave(input, { ...failure, retryAfterMs: error.retryAfterMs }, deps);
    }
    case 'rejected': {
      const word = { ...failure, failure: error.failure };
      const record = await write(claim, 'rejected', word);
      return record === undefined ? rejected(word, input, deps) : resume(record, input, deps);
    }
    case 'ambiguous': {
      const record = await write(claim, 'ambiguous', failure);
      return record === undefined ? { kind: 'ambiguous', code } : resume(record, input, deps);
    }
    default:
      return error.outcome satisfies never;
  }
}

/** Undefined: written. Otherwise another process has changed the record meanwhile, and that record counts. */
async function write(
  { id, owner, deps }: Claim,
  state: RefusedState,
  word: AttemptWord,
): Promise<Attempt | undefined> {
  const writeOnce = async () =>
    (await deps.attempts.refuse({ id, owner }, state, word)) ? undefined : deps.attempts.find(id);
  return withHeartbeat(persistently(writeOnce, deps.now));
}

interface Refusal {
  readonly code: string;
  readonly message: string;
  readonly retryAfterMs?: number | undefined;
}

/** Tries the same channel again later, at no cost in history events, or lets the workflow turn to the next one. */
export async function retryOrLeave(
  input: SubmitInput,
  refusal: Refusal,
  deps: ChannelActivityDeps,
): Promise<SubmitResult> {
  const { attempt, currentAttemptScheduledTimestampMs, scheduledTimestampMs } = Context.current().info;
  const since = scheduledTimestampMs ?? currentAttemptScheduledTimestampMs;
  const left = since + input.persistMs - deps.now();
  const { code, message, retryAfterMs } = refusal;
  // No wait at all says nothing about when: such an upstream would be asked every second.
  const asked = retryAfterMs === 0 ? undefined : retryAfterMs;
  const wished = Math.max(asked ?? 0, retryDelayMinMs * 2 ** Math.min(attempt, 6));
  const delay = Math.min(wished, asked ?? retryDelayMaxMs) * (0.8 + 0.4 * deps.random());
  if (delay >= left || (await deps.gate.anyHasRoom(input.full ?? [], input.model))) {
    const record = await closeAttempt(input, { code, message }, deps);
    if (record !== undefined) return record;
    await deps.gate.leave(input.task);
    return { kind: 'not_accepted', code };
  }
  await noteWait(input, 'upstream', deps);
  throw ApplicationFailure.create({
    message: `the channel does not accept the job at the moment (${code}: ${message}); retrying`,
    type: 'NotAccepted',
    nextRetryDelay: Math.max(Math.round(delay), retryDelayMinMs),
    category: 'BENIGN',
  });
}

/**
 * Reports "not accepted" only once no run of this attempt can send any more. Undefined: that is so. Otherwise
 * what an earlier run turns out to have done.
 */
export async function closeAttempt(
  input: SubmitInput,
  failure: { readonly code: string; readonly message: string },
  deps: ChannelActivityDeps,
): Promise<SubmitResult | undefined> {
  const record = await withHeartbeat(
    persistently(() => deps.attempts.withdraw(newAttempt(input), failure), deps.now),
  );
  return record.state === 'withdrawn' ? undefined : resume(record, input, deps);
}
