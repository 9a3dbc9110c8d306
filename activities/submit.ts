import { Context } from '@temporalio/activity';
import { z } from 'zod';
import type { Send } from '../src/capacity/through-circuits.ts';
import type { Attempt } from '../src/task/attempt.ts';
import type { RouteCandidate } from '../src/task/candidates.ts';
import type { Task } from '../src/task/record.ts';
import { attemptAt, isIdle, isSubmitting, sameCandidate } from '../src/task/state.ts';
import { UpstreamError } from '../src/providers/provider.ts';
import { ChannelGoneError, mustBeCopied } from '../src/routing/channels.ts';
import type { ChannelActivityDeps } from './deps.ts';
import { countElapsed, isFirstAttempt } from './activity-time.ts';
import { enterChannel } from './enter-channel.ts';
import { openToSubmit } from './open-target.ts';
import { lookAtStart, watchJob } from './poll.ts';
import { measured, registered, takeToken } from './prepare-submission.ts';
import { answersAtOnce } from './render-at-once.ts';
import { createSend } from './send-submission.ts';
import { stepTo } from './persistently.ts';
import { stopUnwanted } from './stop-job.ts';
import { recordAcceptance, recordNoLength, retryOrLeave, type Sent } from './submit-answer.ts';
import { viewOf } from './task-view.ts';
import { isWaitReason } from '../src/task/wait.ts';
import { watchedJob } from '../src/task/watched-job.ts';
import type { SubmitInput, TaskView } from './types.ts';

/**
 * If this worker dies before recording that the upstream accepted the submission, another run continues from these
 * heartbeat details.
 */
const acceptedSchema = z.object({
  n: z.number(),
  operation: z.object({ id: z.string() }).catchall(z.string()),
});

/**
 * Submits at most once, then waits for the job to end. The record is set to `sending` before the request. A run that
 * finds `sending` never sends, because the earlier request may have been accepted.
 */
export function createSubmit(deps: ChannelActivityDeps) {
  const { tasks, requests } = deps;
  const send = createSend(deps);

  return async function submit(input: SubmitInput): Promise<TaskView> {
    const { candidate } = input;
    const elapsed = countElapsed(deps.monotonic);
    const task = await lookAtStart(input, deps);
    if (task === undefined) return viewOf(task, deps);
    const after = hasTurned(task, candidate) ? task : await submitAndWait(task, input, elapsed);
    // Leave only this channel. If this worker was stalled, the task may already hold slots elsewhere.
    if (hasTurned(after, candidate)) await deps.gate.leave(task.id, candidate);
    return viewOf(after, deps);
  };

  async function submitAndWait(task: Task, input: SubmitInput, elapsed: () => number): Promise<Task> {
    if (!isSubmitting(task.state)) return wait(task, input, { isNew: false, elapsed });
    const after = await submitOnce(task, input);
    const stopped = await stopUnwanted(after, deps);
    return stopped === after ? wait(after, input, { isNew: true, elapsed }) : stopped;
  }

  /**
   * Waits for the job in this activity. It does not wait if the job is on another channel or no longer wanted. It also
   * does not wait if the account already keeps too many waits open in this worker, because submissions need the same
   * slots.
   */
  async function wait(task: Task, input: SubmitInput, { isNew, elapsed }: Waiting): Promise<Task> {
    const job = task.state.at === 'waiting' ? watchedJob(task) : undefined;
    if (job === undefined || !sameCandidate(job.candidate, input.candidate)) return task;
    const { info, cancellationSignal } = Context.current();
    const isLate = deps.now() >= job.deadlineAt;
    const stayer = { queue: info.taskQueue, account: task.account };
    if (isLate || deps.stays.isFull(stayer) || cancellationSignal.aborted) return task;
    return watchJob(job, { ...input, isFirst: isNew, isNew, elapsed }, deps);
  }

  async function submitOnce(task: Task, input: SubmitInput): Promise<Task> {
    const inFlight = task.state.at === 'sending' ? attemptAt(task.state, task.attempts) : undefined;
    if (inFlight !== undefined) return resume(task, inFlight);
    const stored = await requests.find(task.id);
    if (stored === undefined) {
      const word = { code: 'request_missing', message: 'The request document is gone.' };
      return stepTo(task, { kind: 'rejected', ...word }, deps);
    }
    const target = openToSubmit(deps, task, input.candidate);
    if (target instanceof ChannelGoneError) {
      await tasks.setConcern(task.id, 'channel_gone');
      const wait = { cause: 'channel_gone' } as const;
      const refusal = { code: 'channel_gone', message: target.message, wait };
      return retryOrLeave({ input, task }, refusal, deps);
    }
    const atOnce = answersAtOnce(stored.request, deps.channels(input.candidate.channel));
    const { channel } = input.candidate;
    const isData = atOnce?.isData === true;
    const isStored = isData || mustBeCopied(deps.channels, { channel, kind: task.kind });
    const isCrowded = isData && !deps.unstoredImages.mayRender(task.account);
    if (isCrowded || (isStored && (await deps.storageRefusal()) !== undefined))
      return retryOrLeave({ input, task }, notStored, deps);
    const { submit_ms, image_ms } = target.config.timeouts;
    const submitMs = atOnce === undefined ? submit_ms : image_ms;
    const hasWaited = !isFirstAttempt() || isWaitReason(task.wait?.cause ?? 'worker');
    const preparing = { task, input, request: stored.request };
    const inputSeconds = await measured(preparing, deps);
    if (typeof inputSeconds === 'string') return recordNoLength(preparing, inputSeconds, deps);
    if (task.inputSeconds === 'unmeasured') {
      // Reread the record. The task may have ended while its videos were measured, and a slot taken now would never be
      // released.
      tasks.forget(task.id);
      const current = await tasks.look(task.id);
      if (current !== undefined && !isIdle(current.state)) return current;
    }
    const prepareAndSend: Send<Task> = async (report) => {
      const request =
        atOnce === undefined ? await registered({ ...preparing, inputSeconds }, deps) : stored.request;
      if (request instanceof UpstreamError) {
        if (concernsAll(request)) report(request);
        return leaveWithoutFiles(preparing, request);
      }
      await takeToken(preparing, deps);
      return send({ input, task, stored: { ...stored, request }, target, atOnce, inputSeconds, report });
    };
    return enterChannel(task, { input, submitMs, hasWaited, send: prepareAndSend }, deps);
  }

  /** Frees the slot for another task, because uploads may fail for hours. */
  async function leaveWithoutFiles(
    { input, task }: Pick<Sent, 'input' | 'task'>,
    { code }: UpstreamError,
  ): Promise<Task> {
    await deps.gate.leave(task.id, input.candidate);
    const refusal = {
      code: 'file_not_registered',
      message: 'The request’s files could not be uploaded to the upstream.',
      wait: { cause: 'files', code } as const,
    };
    return retryOrLeave({ input, task }, refusal, deps);
  }

  async function resume(task: Task, { n, owner }: Attempt): Promise<Task> {
    const remembered = acceptedSchema.safeParse(Context.current().info.heartbeatDetails);
    if (remembered.success && remembered.data.n === n) {
      return recordAcceptance({ task, n, owner }, { operation: remembered.data.operation }, deps);
    }
    // The request may have been sent and billed, so it must not be repeated.
    return stepTo(task, { kind: 'lost', n, code: 'submission_lost' }, deps);
  }
}

/** Returns true if the error also affects requests without files, such as a refused key or an unreachable upstream. */
function concernsAll({ outcome, status }: UpstreamError): boolean {
  return status === 401 || status === 402 || outcome === 'not_sent';
}

/**
 * Used while our storage is full or unavailable. The result could not be delivered, so the task would be billed for
 * nothing.
 */
const notStored = {
  code: 'not_stored',
  message: 'The result storage is not accepting files at the moment.',
  wait: { cause: 'storage' },
} as const;

interface Waiting {
  readonly isNew: boolean;
  readonly elapsed: () => number;
}

function hasTurned({ state }: Task, candidate: RouteCandidate): boolean {
  if (state.at === 'pausing') return true;
  return isIdle(state) && !state.left.some((other) => sameCandidate(other, candidate));
}
