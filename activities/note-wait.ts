import type { Task } from '../src/task/record.ts';
import type { NewWait } from '../src/task/wait.ts';
import type { ChannelActivityDeps } from './deps.ts';

/**
 * Records what a task is waiting for, so that GET can show it. Never throws, because a failure to record a wait must
 * not stop a submission.
 */
export async function noteWait(
  { id: task, state }: Pick<Task, 'id' | 'state'>,
  wait: NewWait,
  { tasks, log }: Pick<ChannelActivityDeps, 'tasks' | 'log'>,
): Promise<void> {
  const write = async () => {
    // A waiting task has begun, so its creation can no longer be abandoned.
    if (state.at === 'creating') await tasks.step(task, { kind: 'begun' });
    await tasks.setWait(task, wait);
  };
  await write().catch((err: unknown) => log.warn({ task, err }, 'could not show what a task waits for'));
}
