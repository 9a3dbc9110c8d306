import type { Task } from '../src/task/record.ts';
import type { TaskEvent } from '../src/task/state.ts';
import type { ChannelActivityDeps } from './deps.ts';
import { withHeartbeat } from './heartbeat.ts';
import { persistently } from './persistently.ts';

/**
 * The record after this event, whether it was heard or not; as it was seen where there is none any more. Written until it
 * is written.
 */
export function stepTo(
  task: Task,
  event: TaskEvent,
  deps: Pick<ChannelActivityDeps, 'tasks' | 'log' | 'now'>,
): Promise<Task> {
  const write = async () => (await deps.tasks.step(task.id, event)).task ?? task;
  return withHeartbeat(persistently(write, deps));
}
