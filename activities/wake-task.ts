import { progressOf, rememberedPolls } from '../src/polling/poll-memory.ts';
import type { TaskActivityDeps } from './deps.ts';
import type { TaskActivities } from './types.ts';

export function createWakeTask({
  workflows,
}: Pick<TaskActivityDeps, 'workflows'>): TaskActivities['wakeTask'] {
  return async (task, activity) => {
    const tried = await workflows.tryNow(task, activity);
    return tried.kind === 'heard'
      ? { kind: 'tried', ended: progressOf(rememberedPolls(tried.details)) }
      : tried;
  };
}
