import { jobKey, type Attempt, type Operation } from '../src/task/attempt.ts';
import { attemptId } from '../src/base/ids.ts';
import { attemptAt, isLost } from '../src/task/state.ts';
import type { Task } from '../src/task/record.ts';
import { UpstreamError, type Submitted } from '../src/providers/provider.ts';
import { ChannelGoneError } from '../src/routing/channels.ts';
import type { ChannelActivityDeps } from './deps.ts';
import { withHeartbeat } from './heartbeat.ts';
import { later } from './activity-time.ts';
import { openTarget, requireTarget } from './open-target.ts';
import { stepTo } from './persistently.ts';
import { stopUnwanted } from './stop-job.ts';
import { recordAcceptance } from './submit-answer.ts';
import { viewOf } from './task-view.ts';
import type { TaskView } from './types.ts';

/** Allows for the difference between the upstream's clock and ours. */
const clockSkewMs = 120_000;

/**
 * Searches for the job of a lost submission by its marker. If the upstream does not list exactly one job with the
 * marker, this throws and Temporal repeats the search.
 */
export function createFindLostJob(deps: ChannelActivityDeps) {
  return async function findLostJob(id: string, rev?: number): Promise<TaskView> {
    const task = await deps.tasks.look(id, rev);
    const attempt =
      task !== undefined && isLost(task.state) ? attemptAt(task.state, task.attempts) : undefined;
    if (task === undefined || attempt === undefined) return viewOf(task, deps);
    const found = await findJobsOf(task, attempt, deps);
    if (found === undefined) return viewOf(await stepTo(task, { kind: 'asked' }, deps), deps);
    const { marker, n, owner } = attempt;
    const [job, ...others] = found;
    if (job === undefined || others.length > 0) {
      const which = `the marker ${marker} (attempt ${attemptId(task.id, n)})`;
      throw later('JobNotFound', `${found.length} upstream jobs carry ${which}`);
    }
    return viewOf(await stopUnwanted(await recordAcceptance({ task, n, owner }, job, deps), deps), deps);
  };
}

/** Returns undefined if the upstream cannot list its jobs or if the request has been deleted. */
async function findJobsOf(
  task: Task,
  attempt: Attempt,
  deps: Pick<ChannelActivityDeps, 'channels' | 'requests' | 'now'>,
): Promise<readonly Submitted[] | undefined> {
  const { config, provider, context } = requireTarget(deps, task, attempt);
  if (provider.find === undefined) return undefined;
  const stored = await deps.requests.find(task.id);
  if (stored === undefined) return undefined;
  const { marker, startedAt, endedAt } = attempt;
  const lost = {
    request: stored.request,
    marker,
    sentAfter: startedAt - clockSkewMs,
    sentBefore: (endedAt ?? deps.now()) + clockSkewMs,
  };
  return withHeartbeat(provider.find(lost, context(config.timeouts.poll_ms)));
}

/**
 * Checks an operator's claim that a job belongs to a lost submission. The claim is refused if the upstream does not
 * know the job, if the job came from another request, or if it already belongs to another task.
 */
export async function checkNamedJob(
  task: Task,
  { attempt, id }: { readonly attempt: Attempt; readonly id: string },
  deps: Pick<ChannelActivityDeps, 'tasks' | 'channels' | 'requests' | 'now'>,
): Promise<
  | { readonly operation: Operation; readonly state: 'pending' | 'succeeded' | 'failed' }
  | { readonly refused: string }
> {
  const { channel } = attempt;
  const owner = await deps.tasks.ownerOf(jobKey(channel, id));
  if (owner !== undefined && owner !== task.id)
    return { refused: `The job ${id} of ${channel} belongs to ${owner}.` };
  const target = openTarget(deps, task, attempt);
  if (target instanceof ChannelGoneError) return { refused: `${target.message}.` };
  const { config, provider, context } = target;
  try {
    const jobs = await findJobsOf(task, attempt, deps);
    const listed = jobs?.find(({ operation }) => operation.id === id)?.operation;
    const operation = listed ?? { id };
    const { state } = await withHeartbeat(provider.status(operation, context(config.timeouts.poll_ms)));
    // The list contains only jobs with this request's marker, so a job that is missing from it came from another
    // request.
    return jobs !== undefined && listed === undefined
      ? { refused: `The job ${id} exists at ${channel}, but was not created by this task’s submission.` }
      : { operation, state };
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    const { code } = error;
    return error.gone
      ? { refused: `${channel} does not know the job ${id} (${code}).` }
      : { refused: `${channel} could not be asked about the job ${id} (${code}).` };
  }
}
