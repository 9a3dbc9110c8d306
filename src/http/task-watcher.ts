import { periods } from '../base/periods.ts';
import { createPlaces } from '../base/places.ts';
import type { Task } from '../task/record.ts';

/** Lets requests wait for a task to change. One query at a time serves all waiting requests. */
export interface TaskWatcher {
  /**
   * Resolves to the task as soon as its status differs from `status`. Resolves to undefined if time runs out, the
   * caller disconnects, the server shuts down, or the account has too many waits while others need room.
   */
  waitForChange(wait: Wait): Promise<Task | undefined>;
  release(): void;
  waiting(): number;
}

export interface Wait {
  readonly task: string;
  readonly account: string;
  readonly status: Task['status'];
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export interface TaskWatcherDeps {
  readonly findMany: (ids: readonly string[]) => Promise<readonly Task[]>;
  readonly now: () => number;
  readonly onError: (error: unknown) => void;
  readonly intervalMs?: number;
  readonly waitersMax?: number;
}

const waitersMaxDefault = 5_000;

interface Waiter extends Wait {
  readonly until: number;
  readonly answer: (task: Task | undefined) => void;
}

export function createTaskWatcher(deps: TaskWatcherDeps): TaskWatcher {
  const intervalMs = deps.intervalMs ?? periods.waitedTasks.everyMs;
  const places = createPlaces({ name: 'waiting requests', placesMax: deps.waitersMax ?? waitersMaxDefault });
  const waiters = new Set<Waiter>();
  let timer: NodeJS.Timeout | undefined;
  let released = false;

  async function look(): Promise<void> {
    const asked = [...waiters];
    try {
      const tasks = await deps.findMany([...new Set(asked.map(({ task }) => task))]);
      const byId = new Map(tasks.map((task) => [task.id, task]));
      for (const waiter of asked) {
        const task = byId.get(waiter.task);
        if (task !== undefined && task.status !== waiter.status) waiter.answer(task);
      }
    } catch (error) {
      deps.onError(error);
    }
    const now = deps.now();
    for (const waiter of asked) if (now >= waiter.until) waiter.answer(undefined);
    timer = undefined;
    schedule();
  }

  function schedule(): void {
    if (timer !== undefined || waiters.size === 0) return;
    timer = setTimeout(() => void look(), intervalMs);
  }

  return {
    waitForChange(wait) {
      if (released || wait.signal.aborted) return Promise.resolve(undefined);
      return new Promise((resolve) => {
        const hangUp = (): void => waiter.answer(undefined);
        const place = places.take(wait.account, { evict: hangUp });
        if (typeof place === 'string') return resolve(undefined);
        const waiter: Waiter = {
          ...wait,
          until: deps.now() + wait.timeoutMs,
          answer: (task) => {
            waiters.delete(waiter);
            place.leave();
            wait.signal.removeEventListener('abort', hangUp);
            resolve(task);
          },
        };
        wait.signal.addEventListener('abort', hangUp, { once: true });
        waiters.add(waiter);
        schedule();
      });
    },

    release() {
      released = true;
      for (const waiter of waiters) waiter.answer(undefined);
      clearTimeout(timer);
    },

    waiting: () => waiters.size,
  };
}
