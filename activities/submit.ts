import { Context } from '@temporalio/activity';
import { z } from 'zod';
import type { Attempt } from '../src/task/attempt.ts';
import type { GenerationRequest } from '../src/models/request.ts';
import type { RouteCandidate } from '../src/task/candidates.ts';
import { orderedTask } from '../src/task/fair-order.ts';
import type { Task } from '../src/task/record.ts';
import { attemptAt, isIdle, isSubmitting, sameCandidate } from '../src/task/state.ts';
import { UpstreamError } from '../src/providers/provider.ts';
import { ChannelGoneError } from '../src/routing/channels.ts';
import type { ChannelActivityDeps } from './deps.ts';
import { countElapsed } from './elapsed.ts';
import { withHeartbeat } from './heartbeat.ts';
import { enterChannel } from './enter-channel.ts';
import { later } from './later.ts';
import { noteWait } from './note-wait.ts';
import { openTarget } from './open-target.ts';
import { isFirstAttempt, lookAtStart, watchJob } from './poll.ts';
import { answersAtOnce } from './render-at-once.ts';
import { createSend } from './send-submission.ts';
import { stepTo } from './step-to.ts';
import { stopUnwanted } from './stop-job.ts';
import { recordAcceptance, retryOrLeave } from './submit-answer.ts';
import { viewOf } from './task-view.ts';
import { briefMs, isWaitReason } from '../src/task/wait.ts';
import { watchedJob } from '../src/task/watched-job.ts';
import type { SubmitInput, TaskView } from './types.ts';

/**
 * What a heartbeat carries once the upstream has accepted: enough for another run to continue if this worker dies before
 * it is written.
 */
const acceptedSchema = z.object({
  n: z.number(),
  operation: z.object({ id: z.string() }).catchall(z.string()),
});

/**
 * One submission, at most once, and then the wait for the end of its job: the record says `sending` before the request
 * leaves, and what came of it afterwards. A run that finds `sending` never posts: what an earlier run sent may have been
 * accepted.
 */
export function createSubmit(deps: ChannelActivityDeps) {
  const { tasks, requests } = deps;
  const send = createSend(deps);

  return async function submit(input: SubmitInput): Promise<TaskView> {
    const { candidate } = input;
    const elapsed = countElapsed(deps.monotonic);
    const task = await lookAtStart(input, deps);
    if (task === undefined) return viewOf(task);
    const after = hasTurned(task, candidate) ? task : await submitAndWait(task, input, elapsed);
    // Here alone: whoever stood still meanwhile must not give back what the task has elsewhere by now.
    if (hasTurned(after, candidate)) await deps.gate.leave(task.id, candidate);
    return viewOf(after);
  };

  async function submitAndWait(task: Task, input: SubmitInput, elapsed: () => number): Promise<Task> {
    if (!isSubmitting(task.state)) return wait(task, input, { isNew: false, elapsed });
    const after = await submitOnce(task, input);
    const stopped = await stopUnwanted(after, deps);
    // Who wanted the task to end hears what came of it before its job is waited for.
    return stopped === after ? wait(after, input, { isNew: true, elapsed }) : stopped;
  }

  /**
   * Waits here, unless it is not that simple: the job is another channel's, is not wanted any more, or each place of this
   * queue, which submissions need too, has one that waits. `isNew`: accepted by this run.
   */
  async function wait(task: Task, input: SubmitInput, { isNew, elapsed }: Waiting): Promise<Task> {
    const job = task.state.at === 'waiting' ? watchedJob(task) : undefined;
    if (job === undefined || !sameCandidate(job.candidate, input.candidate)) return task;
    const { info, cancellationSignal } = Context.current();
    const isLate = deps.now() >= job.deadlineAt;
    if (isLate || deps.stays.isFull(info.taskQueue) || cancellationSignal.aborted) return task;
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
    const target = openTarget(deps, task, input.candidate);
    if (target instanceof ChannelGoneError) {
      await tasks.setConcern(task.id, 'channel_gone');
      const wait = { cause: 'channel_gone' } as const;
      const refusal = { code: 'channel_gone', message: target.message, wait };
      return retryOrLeave({ input, task }, refusal, deps);
    }
    const atOnce = answersAtOnce(stored.request, deps.channels(input.candidate.channel));
    const { submit_ms, image_ms } = target.config.timeouts;
    const submitMs = atOnce === undefined ? submit_ms : image_ms;
    const hasWaited = !isFirstAttempt() || isWaitReason(task.wait?.cause ?? 'worker');
    const refused = await enterChannel(task, { input, submitMs, hasWaited }, deps);
    if (refused !== undefined) return refused;
    const request = atOnce === undefined ? await registered(task, stored.request, input) : stored.request;
    if (request instanceof UpstreamError) {
      const refusal = {
        code: 'file_not_registered',
        message: 'Its files could not be given to the upstream.',
        wait: { cause: 'files', code: request.code } as const,
      };
      return retryOrLeave({ input, task }, refusal, deps);
    }
    const { cancellationSignal } = Context.current();
    const isBack = !isFirstAttempt() && task.wait?.cause === 'rate';
    const turn = { ...orderedTask(task), isBack };
    const delay = await deps.submitLimiter(input.candidate).enter(turn, cancellationSignal);
    if (delay !== undefined) {
      const { ms, ahead } = delay;
      const until = deps.now() + ms;
      await noteWait(task, { cause: 'rate', ...input.candidate, ahead, until }, deps);
      const nextIn = `next look in ${Math.ceil(ms / 1000)} s`;
      throw later('WaitsForItsTurn', `the channel's submissions per second are used; ${nextIn}`, ms);
    }
    return send({ input, task, stored: { ...stored, request }, target, atOnce });
  }

  /** Before anything is sent. What the upstream refuses for good it may still fetch from us. */
  async function registered(
    task: Task,
    request: GenerationRequest,
    { candidate }: SubmitInput,
  ): Promise<GenerationRequest | UpstreamError> {
    const slow = setTimeout(() => void noteWait(task, { cause: 'files', ...candidate }, deps), briefMs / 2);
    try {
      return await withHeartbeat(
        deps.registerFiles(request, candidate, Context.current().cancellationSignal),
      );
    } catch (error) {
      if (!(error instanceof UpstreamError)) throw error;
      return error.outcome === 'rejected' ? request : error;
    } finally {
      clearTimeout(slow);
    }
  }

  /** An earlier run of this submission has sent it, and did not write down what came of it. */
  async function resume(task: Task, { n, owner }: Attempt): Promise<Task> {
    const remembered = acceptedSchema.safeParse(Context.current().info.heartbeatDetails);
    if (remembered.success && remembered.data.n === n) {
      return recordAcceptance({ task, n, owner }, { operation: remembered.data.operation }, deps);
    }
    // It may have been sent, and may be billed.
    return stepTo(task, { kind: 'lost', n, code: 'submission_lost' }, deps);
  }
}

interface Waiting {
  readonly isNew: boolean;
  readonly elapsed: () => number;
}

/** The task asks others, or pauses, and has no use for a slot here any more: this run has written that, or an earlier one. */
function hasTurned({ state }: Task, candidate: RouteCandidate): boolean {
  if (state.at === 'pausing') return true;
  return isIdle(state) && !state.left.some((other) => sameCandidate(other, candidate));
}
