import type { Task } from '../src/task/record.ts';
import type { NewWait } from '../src/task/wait.ts';
import type { ChannelActivityDeps } from './deps.ts';

/** Never throws, because the wait is only displayed and must not stop the submission. */
export async function noteWait(
  { id: task, state }: Pick<Task, 'id' | 'state'>,
  wait: NewWait,
  { tasks, log }: Pick<ChannelActivityDeps, 'tasks' | 'log'>,
): Promise<void> {
  const write = async () => {
    if (state.at === 'creating') await tasks.step(task, { kind: 'begun' });
    await tasks.setWait(task, wait);
  };
  await write().catch((err: unknown) => log.warn({ task, err }, 'could not show what a task waits for'));
}
