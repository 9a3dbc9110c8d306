import { copyTimes } from '../src/base/activity-times.ts';
import type { Task } from '../src/task/record.ts';
import { UpstreamError } from '../src/providers/provider.ts';
import { ChannelGoneError } from '../src/routing/channels.ts';
import type { ChannelActivityDeps } from './deps.ts';
import { withHeartbeat } from './heartbeat.ts';
import { openTarget, type UpstreamTarget } from './open-target.ts';
import { recordEnd } from './poll-answer.ts';
import { stepTo } from './persistently.ts';
import { viewOf } from './task-view.ts';
import { watchedJob, type WatchedJob } from '../src/task/watched-job.ts';
import type { TaskView } from './types.ts';

/** Stops a job. Runs outside the channel's queue, and finishes even if the channel has been removed. */
export function createStopJob(deps: ChannelActivityDeps) {
  return async function stopJob(id: string, rev?: number): Promise<TaskView> {
    const task = await deps.tasks.look(id, rev);
    return viewOf(task && (await stopUnwanted(task, deps)), deps);
  };
}

/**
 * A caller's cancellation succeeds only if the upstream agrees, because a job that keeps running is still billed. At
 * the deadline, or when an operator fails the task, an existing result is used. If there is none, the task ends and the
 * upstream is asked to cancel.
 */
export async function stopUnwanted(task: Task, deps: ChannelActivityDeps): Promise<Task> {
  const job = watchedJob(task);
  if (task.state.at !== 'stopping' || job === undefined) return task;
  const opened = openTarget(deps, task, job.candidate);
  const target = opened instanceof ChannelGoneError ? undefined : opened;
  const about = { n: job.n, job: job.operation.id };
  const write = (kind: 'stopped' | 'unstoppable') => stepTo(task, { ...about, kind }, deps);
  const isCancellation = task.state.stop === 'cancel';
  if (isCancellation && target !== undefined && (await cancel(job, target, deps))) return write('stopped');
  // An upstream refuses to cancel a job twice, so a refusal may mean that an earlier run cancelled it and died. Poll
  // once more to find out.
  const seen = target === undefined ? undefined : await askOnceMore(job, target, deps);
  if (seen !== undefined) return seen;
  if (isCancellation) return write('unstoppable');
  if (target !== undefined) await cancel(job, target, deps);
  return write('stopped');
}

/** Asks the upstream to cancel the job. Returns false if it refused or could not be reached. */
async function cancel(
  { operation }: WatchedJob,
  { provider, config, context }: UpstreamTarget,
  deps: ChannelActivityDeps,
): Promise<boolean> {
  const ask = async () => provider.cancel?.(operation, context(config.timeouts.poll_ms));
  const answer = await ifAnswered(ask, deps);
  return answer === 'cancelled';
}

async function askOnceMore(
  job: WatchedJob,
  { provider, config, context }: UpstreamTarget,
  deps: ChannelActivityDeps,
): Promise<Task | undefined> {
  const ask = async () => provider.status(job.operation, context(config.timeouts.poll_ms));
  const status = await ifAnswered(ask, deps);
  if (status === undefined || status.state === 'pending') return undefined;
  const recorded = recordEnd(status, job, { deps, copyMaxMs: copyTimes.stopMs, askAgain: ask, isLast: true });
  return withHeartbeat(recorded).catch((error: unknown) => {
    if (!(error instanceof UpstreamError)) throw error;
    return undefined;
  });
}

/** Returns undefined on any error, because a failing adapter must not prevent the next request. */
async function ifAnswered<Answer>(
  ask: () => Promise<Answer>,
  { tasks, log }: ChannelActivityDeps,
): Promise<Answer | undefined> {
  try {
    return await withHeartbeat(ask());
  } catch (err) {
    if (tasks.isOutage(err)) throw err;
    if (!(err instanceof UpstreamError)) log.error({ err }, 'an adapter failed while stopping a job');
    return undefined;
  }
}
