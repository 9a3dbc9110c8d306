import { jobKey } from '../src/domain/attempt.ts';
import type { Attempt, Operation } from '../src/domain/attempt.ts';
import type { Task } from '../src/domain/task-record.ts';
import { UpstreamError } from '../src/providers/provider.ts';
import type { ChannelActivityDeps } from './deps.ts';
import { findJobsOf } from './find-lost-job.ts';
import { withHeartbeat } from './heartbeat.ts';
import { requireTarget } from './open-target.ts';

export interface NamedJob {
  /** The lost submission. */
  readonly attempt: Attempt;
  /** The upstream's id, as an operator gave it. */
  readonly id: string;
}

/** Refuses a job that the upstream does not know, that is not this task's, or that another task has. */
export async function checkNamedJob(
  task: Task,
  { attempt, id }: NamedJob,
  deps: Pick<ChannelActivityDeps, 'tasks' | 'channels' | 'requests' | 'now'>,
): Promise<
  | { readonly operation: Operation; readonly state: 'pending' | 'succeeded' | 'failed' }
  | { readonly refused: string }
> {
  const { channel } = attempt;
  const owner = await deps.tasks.ownerOf(jobKey(channel, id));
  if (owner !== undefined && owner !== task.id)
    return { refused: `The job ${id} of ${channel} belongs to ${owner}.` };
  try {
    const { config, provider, context } = requireTarget(deps, task, attempt);
    const jobs = await findJobsOf(task, attempt, deps);
    const listed = jobs?.find(({ operation }) => operation.id === id)?.operation;
    const operation = listed ?? { id };
    const { state } = await withHeartbeat(provider.status(operation, context(config.timeouts.poll_ms)));
    // Where the upstream lists jobs by what we mark them with, one that is not in the list is somebody else's.
    return jobs !== undefined && listed === undefined
      ? { refused: `The job ${id} exists at ${channel}, but was not made by this task’s submission.` }
      : { operation, state };
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    const { code } = error;
    return error.gone
      ? { refused: `${channel} does not know the job ${id} (${code}).` }
      : { refused: `${channel} could not be asked about the job ${id} (${code}).` };
  }
}
