import type { Task } from '../src/task/record.ts';
import type { TaskEvent } from '../src/task/state.ts';
import type { ChannelActivityDeps } from './deps.ts';
import { withHeartbeat } from './heartbeat.ts';
import { persistently } from './persistently.ts';

/**
 * Writes the event, and repeats the write until it succeeds. Returns the resulting record, whether the event was
 * accepted or refused. If the record no longer exists, returns the given one.
 */
export function stepTo(
  task: Task,
  event: TaskEvent,
  deps: Pick<ChannelActivityDeps, 'tasks' | 'log' | 'now'>,
): Promise<Task> {
  const write = async () => (await deps.tasks.step(task.id, event)).task ?? task;
  return withHeartbeat(persistently(write, deps));
}
