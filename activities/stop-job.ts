import type { Task } from '../src/domain/task-record.ts';
import { UpstreamError } from '../src/providers/provider.ts';
import { ChannelGoneError } from '../src/routing/channels.ts';
import type { ChannelActivityDeps } from './deps.ts';
import { withHeartbeat } from './heartbeat.ts';
import { openTarget } from './open-target.ts';
import type { UpstreamTarget } from './open-target.ts';
import { recordEnd } from './poll-answer.ts';
import { stepTo } from './step-to.ts';
import { viewOf, watchedJob } from './task-view.ts';
import type { WatchedJob } from './task-view.ts';
import type { TaskView } from './types.ts';

/** Of the last question's time, how much the copy of a result may use. */
const lastCopyMaxMs = 25_000;

/** Ends a job that is not wanted any more. Needs no channel's queue, and no channel to come to an end. */
export function createStopJob(deps: ChannelActivityDeps) {
  return async function stopJob(id: string, rev?: number): Promise<TaskView> {
    const task = await deps.tasks.look(id, rev);
    return viewOf(task && (await stopUnwanted(task, deps)));
  };
}

/**
 * A caller's cancellation stands or falls with the upstream: never "cancelled" for a job that keeps running and costing.
 * At the deadline, and when an operator fails the task, a result that is there counts; otherwise the task ends, and the
 * upstream is asked to cancel.
 */
export async function stopUnwanted(task: Task, deps: ChannelActivityDeps): Promise<Task> {
  const job = watchedJob(task);
  if (task.wanted === undefined || job === undefined) return task;
  const opened = openTarget(deps, task, job.candidate);
  const target = opened instanceof ChannelGoneError ? undefined : opened;
  const about = { n: job.n, job: job.operation.id };
  const write = (kind: 'stopped' | 'unstoppable') => stepTo(task, { ...about, kind }, deps);
  const isCancellation = task.wanted === 'cancel';
  if (isCancellation && target !== undefined && (await cancel(job, target))) return write('stopped');
  // An upstream refuses what it has cancelled before: an earlier run may have died before it had said so.
  const seen = target === undefined ? undefined : await askOnceMore(job, target, deps);
  if (seen !== undefined) return seen;
  if (isCancellation) return write('unstoppable');
  if (target !== undefined) await cancel(job, target);
  return write('stopped');
}

/** Best effort, and an honest answer: false also when the upstream could not be asked. */
async function cancel(
  { operation }: WatchedJob,
  { provider, config, context }: UpstreamTarget,
): Promise<boolean> {
  const answer = await ifAnswered(async () => provider.cancel?.(operation, context(config.timeouts.poll_ms)));
  return answer === 'cancelled';
}

/** The upstream's end of the job, if it has come. */
async function askOnceMore(
  job: WatchedJob,
  { provider, config, context }: UpstreamTarget,
  deps: ChannelActivityDeps,
): Promise<Task | undefined> {
  const status = await ifAnswered(() => provider.status(job.operation, context(config.timeouts.poll_ms)));
  if (status === undefined || status.state === 'pending') return undefined;
  return ifAnswered(() => recordEnd(status, job, { deps, copyMaxMs: lastCopyMaxMs }));
}

/** Undefined: the upstream could not be asked, or did not say. */
async function ifAnswered<Answer>(ask: () => Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await withHeartbeat(ask());
  } catch (error) {
    if (error instanceof UpstreamError) return undefined;
    throw error;
  }
}
