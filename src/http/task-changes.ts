import { setTimeout as sleep } from 'node:timers/promises';
import { isTerminal } from '../task/task.ts';
import type { Task } from '../task/record.ts';
import type { RouteDeps } from './deps.ts';

export type TaskChangesDeps = Pick<RouteDeps, 'tasks' | 'watcher' | 'isDraining' | 'now'>;

const pauseMs = 1_000;

interface Reading {
  readonly everyMs: () => number;
  readonly signal: AbortSignal;
}

/**
 * Yields the task now and whenever its status changes, until it has finished. Yields undefined whenever `everyMs`
 * passes without a change. Stops early if the reader disconnects or the process is shutting down.
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
    // The task may have changed while nobody was waiting for it.
    task = changed ?? (await tasks.find(id)) ?? task;
    yield task.status === status ? undefined : task;
  }
}
