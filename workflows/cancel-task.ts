import { condition } from '@temporalio/workflow';
import type { CancelAnswer } from './messages.ts';
import type { TaskRun } from './task-run.ts';
import { cancelUpstream } from './watch-job.ts';

/** Never "cancelled" for a job that keeps running and costing. */
export async function requestCancel(run: TaskRun): Promise<CancelAnswer> {
  if (run.phase === 'admitting') await condition(() => run.phase !== 'admitting');
  if ((await stopJob(run)) === 'refused') {
    return {
      cancelled: false,
      message: 'The upstream is already working on it, so it can no longer be cancelled.',
    };
  }
  const refusal = refusalWhileWaiting(run);
  if (refusal !== undefined) return { cancelled: false, message: refusal };
  await condition(() => run.phase === 'ended');
  const cancelled = run.ending?.kind === 'failed' && run.ending.error?.code === 'task_cancelled';
  return cancelled
    ? { cancelled }
    : { cancelled, message: `The task has already ${run.ending?.kind ?? 'ended'}.` };
}

/** A task that waits for a person is not cancelled: nobody knows what is running, or it has been delivered. */
function refusalWhileWaiting(run: TaskRun): string | undefined {
  if (run.review !== undefined) {
    return 'The job is done; an operator has been asked to decide about its charge.';
  }
  return run.phase === 'attention'
    ? 'It is not known whether the upstream has the task; an operator has been asked to decide.'
    : undefined;
}

/** Withdraws what is not sent, or asks the upstream; again, if another job has taken the place of that one meanwhile. */
async function stopJob(run: TaskRun): Promise<'refused' | 'stopped'> {
  for (;;) {
    if (run.phase === 'submitting') {
      run.withdraw = true;
      await condition(() => run.phase !== 'submitting');
    }
    const { job } = run;
    if (run.phase !== 'watching' || job === undefined) return 'stopped';
    const isRefused = (await cancelUpstream(run, job)) === 'refused';
    if (run.job !== job) continue;
    if (isRefused && mayContinue(run)) return 'refused';
    run.stop ??= 'cancelled';
    return 'stopped';
  }
}

function mayContinue({ phase }: TaskRun): boolean {
  return phase === 'watching' || phase === 'attention';
}
