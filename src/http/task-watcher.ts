import type { TaskDocument } from '../store/tasks.ts';

/** Answers requests that wait for a task's next status, with one query for all of them at a time. */
export interface TaskWatcher {
  /**
   * Resolves with the task as soon as its status differs from `status`; with undefined when the time is over, the
   * caller hung up, its account waits too often while others want its places, or the server goes down: then the task
   * is what it was.
   */
  waitForChange(wait: Wait): Promise<TaskDocument | undefined>;
  /** Answers everybody now, and from now on at once. */
  release(): void;
  waiting(): number;
}

export interface Wait {
  readonly task: string;
  /** Whose place it is. */
  readonly account: string;
  readonly status: TaskDocument['status'];
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export interface TaskWatcherDeps {
  readonly findMany: (ids: readonly string[]) => Promise<readonly TaskDocument[]>;
  readonly now: () => number;
  readonly onError: (error: unknown) => void;
  readonly intervalMs?: number;
  readonly waitersMax?: number;
}

const intervalMsDefault = 250;
const waitersMaxDefault = 5_000;

interface Waiter extends Wait {
  readonly until: number;
  readonly answer: (task: TaskDocument | undefined) => void;
}

export function createTaskWatcher(deps: TaskWatcherDeps): TaskWatcher {
  const intervalMs = deps.intervalMs ?? intervalMsDefault;
  const waitersMax = deps.waitersMax ?? waitersMaxDefault;
  const waiters = new Set<Waiter>();
  const perAccount = new Map<string, Set<Waiter>>();
  let timer: NodeJS.Timeout | undefined;
  let released = false;

  async function look(): Promise<void> {
    const asked = [...waiters];
    try {
      const tasks = await deps.findMany([...new Set(asked.map(({ task }) => task))]);
      const byId = new Map(tasks.map((task) => [task._id, task]));
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

  /** When all places are taken, the account that has most of them gives up its oldest to one that has fewer. */
  function makeRoom(account: string): boolean {
    if (waiters.size < waitersMax) return true;
    let largest: Set<Waiter> | undefined;
    for (const own of perAccount.values()) if (own.size > (largest?.size ?? 0)) largest = own;
    if (largest === undefined || (perAccount.get(account)?.size ?? 0) + 1 >= largest.size) return false;
    const [oldest] = largest;
    oldest?.answer(undefined);
    return true;
  }

  function add(waiter: Waiter): void {
    waiters.add(waiter);
    const own = perAccount.get(waiter.account) ?? new Set();
    perAccount.set(waiter.account, own.add(waiter));
    schedule();
  }

  function remove(waiter: Waiter): void {
    waiters.delete(waiter);
    const own = perAccount.get(waiter.account);
    own?.delete(waiter);
    if (own?.size === 0) perAccount.delete(waiter.account);
  }

  return {
    waitForChange(wait) {
      if (released || wait.signal.aborted || !makeRoom(wait.account)) return Promise.resolve(undefined);
      return new Promise((resolve) => {
        const hangUp = (): void => waiter.answer(undefined);
        const waiter: Waiter = {
          ...wait,
          until: deps.now() + wait.timeoutMs,
          answer: (task) => {
            remove(waiter);
            wait.signal.removeEventListener('abort', hangUp);
            resolve(task);
          },
        };
        wait.signal.addEventListener('abort', hangUp, { once: true });
        add(waiter);
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
