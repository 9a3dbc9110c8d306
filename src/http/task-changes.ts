import { setTimeout as sleep } from 'node:timers/promises';
import { isTerminal } from '../task/task.ts';
import type { Task } from '../task/record.ts';
import type { RouteDeps } from './deps.ts';

export type TaskChangesDeps = Pick<RouteDeps, 'tasks' | 'watcher' | 'isDraining' | 'now'>;

/** A wait that ends at once is not repeated at once. */
const pauseMs = 1_000;

interface Reading {
  /** Asked before each wait. */
  readonly everyMs: () => number;
  readonly signal: AbortSignal;
}

/**
 * A task as it is now, and with each later status, until it has ended; undefined whenever `everyMs` have passed without news.
 * Ends before the task does where nobody reads any more, or the process ends.
 */
export async function* changesOf(
  first: Task,
  { everyMs, signal }: Reading,
  { tasks, watcher, isDraining, now }: TaskChangesDeps,
): AsyncGenerator<Task | undefined, void, undefined> {
  let task = first;
  yield task;
  while (!isTerminal(task.status) && !signal.aborted && !isDraining()) {
    const { id, status, account } = task;
    const waitedFrom = now();
    const timeoutMs = everyMs();
    const changed = await watcher.waitForChange({ task: id, account, status, timeoutMs, signal });
    if (changed === undefined && now() - waitedFrom < Math.min(timeoutMs, pauseMs))
      await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
    // It may have changed while nobody waited for it.
    task = changed ?? (await tasks.find(id)) ?? task;
    yield task.status === status ? undefined : task;
  }
}
