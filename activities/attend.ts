import { ApplicationFailure, Context } from '@temporalio/activity';
import { z } from 'zod';
import { attemptId } from '../src/domain/ids.ts';
import { acceptedAttempt } from './attempt-record.ts';
import type { ChannelActivityDeps } from './deps.ts';
import { createPoll } from './poll.ts';
import type { AttendedPoll, PollInput, SubmitInput, SubmitResult } from './types.ts';

/** What a poll leaves to the next one. */
const polledSchema = z.object({ polls: z.number() });

/**
 * The second half of an attended submission: the same activity waits for the upstream to end the job, in the way in
 * which the `poll` activity does. Returns what it was given, and the workflow polls, wherever that is not so simple:
 * the task is being interrupted, an earlier attempt has the job, or the deadline that the activity knows has passed.
 */
export function createAttend(deps: ChannelActivityDeps) {
  const poll = createPoll(deps);
  return { attend, resumed };

  async function attend(submitted: SubmitResult, input: SubmitInput): Promise<SubmitResult> {
    const job = pollInputOf(submitted, input, deps.now());
    if (job === undefined || submitted.kind !== 'accepted') return submitted;
    const { info, cancellationSignal } = Context.current();
    const isLate = deps.now() >= input.deadlineAt;
    // Each that stays is one of the queue's places, which submissions need too: `poll` has a queue of its own.
    if (isLate || deps.stays.isFull(info.taskQueue) || cancellationSignal.aborted) return submitted;
    const isNew = submitted.acceptedAt === undefined;
    return { ...submitted, acceptedAt: job.acceptedAt, polled: await pollOrBreak(job, isNew) };
  }

  /** `isNew`: accepted by this run of the activity. */
  async function pollOrBreak(job: PollInput, isNew: boolean): Promise<AttendedPoll> {
    try {
      return await poll(job, isNew);
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
