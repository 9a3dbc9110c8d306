import type { Task } from '../src/task/record.ts';
import type { TaskEvent } from '../src/task/state.ts';
import type { ChannelActivityDeps } from './deps.ts';
import { withHeartbeat } from './heartbeat.ts';

const everyMs = 1_000;
const maxMsDefault = 240_000;

interface Persistence extends Pick<ChannelActivityDeps, 'log' | 'now'> {
  readonly tasks: Pick<ChannelActivityDeps['tasks'], 'isOutage'>;
  readonly maxMs?: number;
}

/**
 * Repeats a write while the storage is unavailable, by default for up to four minutes, because only this process knows
 * the upstream's response. The write must be idempotent. Other errors are thrown immediately.
 */
export async function persistently<Result>(
  write: () => Promise<Result>,
  { tasks, log, now, maxMs = maxMsDefault }: Persistence,
): Promise<Result> {
  const endsAt = now() + maxMs;
  for (let tries = 1; ; tries += 1) {
    try {
      return await write();
    } catch (err) {
      if (!tasks.isOutage(err) || now() > endsAt) throw err;
      if (tries === 1) log.warn({ err }, 'the storage does not respond; retrying a write until it succeeds');
      await new Promise((resolve) => void setTimeout(resolve, everyMs));
    }
  }
}

/**
 * Repeats the write until it succeeds. Returns the current record even if the event was refused, or the given record if
 * the stored one has been deleted.
 */
export function stepTo(
  task: Task,
  event: TaskEvent,
  deps: Pick<ChannelActivityDeps, 'tasks' | 'log' | 'now'>,
): Promise<Task> {
  const write = async () => (await deps.tasks.step(task.id, event)).task ?? task;
  return withHeartbeat(persistently(write, deps));
}
