import { ApplicationFailure, Context } from '@temporalio/activity';
import { z } from 'zod';
import { attemptId } from '../src/domain/ids.ts';
import { acceptedAttempt } from './attempt-record.ts';
import type { ChannelActivityDeps } from './deps.ts';
import { createPoll } from './poll.ts';
import type { AttendedPoll, PollInput, SubmitInput, SubmitResult } from './types.ts';

/**
 * Attempts of one channel that are asking the upstream at the same time. Each is one of the queue's places, which
 * submissions need too: beyond this, a job is left to the `poll` activity and its own queue.
 */
const attendedPerChannelMax = 500;

/** What a poll leaves to the next one. */
const polledSchema = z.object({ polls: z.number() });

/**
 * The second half of an attended submission: the same activity waits for the upstream to end the job, in the way in
 * which the `poll` activity does. Returns what it was given, and the workflow polls, wherever that is not so simple:
 * the task is being interrupted, an earlier attempt has the job, or the deadline that the activity knows has passed.
 */
export function createAttend(deps: ChannelActivityDeps) {
  const poll = createPoll(deps);
  const attending = new Map<string, number>();
  return { attend, resumed };

  async function attend(submitted: SubmitResult, input: SubmitInput): Promise<SubmitResult> {
    const job = pollInputOf(submitted, input, deps.now());
    if (job === undefined || submitted.kind !== 'accepted') return submitted;
    const { channel } = input.candidate;
    const count = attending.get(channel) ?? 0;
    const isLate = deps.now() >= input.deadlineAt;
    if (isLate || count >= attendedPerChannelMax || Context.current().cancellationSignal.aborted) {
      return submitted;
    }
    attending.set(channel, count + 1);
    try {
      return { ...submitted, acceptedAt: job.acceptedAt, polled: await pollOrBreak(job) };
    } finally {
      attending.set(channel, (attending.get(channel) ?? 1) - 1);
    }
  }

  async function pollOrBreak(job: PollInput): Promise<AttendedPoll> {
    try {
      return await poll(job);
    } catch (error) {
      if (error instanceof ApplicationFailure && error.nonRetryable === true) return 'broken';
      throw error;
    }
  }

  /** The job that an earlier run of the activity has polled already: everything else about it was written then. */
  async function resumed(input: SubmitInput): Promise<SubmitResult | undefined> {
    const hasPolled = polledSchema.safeParse(Context.current().info.heartbeatDetails).success;
    if (input.attend === undefined || !hasPolled) return undefined;
    const begun = await deps.attempts.find(attemptId(input.task, input.n));
    return begun?.state === 'accepted' ? acceptedAttempt(begun, input) : undefined;
  }
}

/** Undefined: the submission is not attended, or its job is elsewhere. */
function pollInputOf(submitted: SubmitResult, input: SubmitInput, now: number): PollInput | undefined {
  const { attend, task, kind, model, candidate, deadlineAt, fallback } = input;
  if (attend === undefined || submitted.kind !== 'accepted' || submitted.candidate !== undefined) {
    return undefined;
  }
  const { operation, acceptedAt = now } = submitted;
  return {
    task,
    kind,
    model,
    candidate,
    operation,
    acceptedAt,
    deadlineAt,
    ...attend,
    last: false,
    ...(fallback === undefined ? {} : { fallback }),
  };
}
