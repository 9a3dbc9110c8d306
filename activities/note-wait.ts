import type { WaitReason } from '../src/task/wait-reason.ts';
import type { ChannelActivityDeps } from './deps.ts';

/**
 * Shows the task's owner what it waits for; undefined: nothing any more. A repeated reason is not written again. Never
 * throws: what GET says must not stop a submission.
 */
export async function noteWait(
  task: string,
  reason: WaitReason | undefined,
  { tasks, log }: Pick<ChannelActivityDeps, 'tasks' | 'log'>,
): Promise<void> {
  await tasks
    .setWait(task, reason)
    .catch((err: unknown) => log.warn({ task, err }, 'could not show what a task waits for'));
}
