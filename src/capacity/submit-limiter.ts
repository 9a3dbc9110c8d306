import { LRUCache } from 'lru-cache';
import { countAhead } from '../task/fair-order.ts';
import type { LastServed, OrderedTask } from '../task/fair-order.ts';

/**
 * Paces the submissions of one credential in this process, in fair order. It does not block them: a task that comes
 * too early learns when to return, and waits in a timer on Temporal's server. No token is reserved for that time, so a
 * task that never returns delays no other task.
 */
export interface SubmitLimiter {
  /** Undefined means that a token was taken: send now. Waits for it at most one second. */
  enter(request: SubmitTurn, signal: AbortSignal): Promise<SubmitDelay | undefined>;
  /** The token was not used after all. */
  giveBack(): void;
}

export interface SubmitTurn extends OrderedTask {
  /** Whether the task was asked to return, perhaps by another process, and has now returned. */
  readonly isBack: boolean;
}

/** The task returns after `ms`. `ahead` is the number of tasks of this process that come before it. */
export interface SubmitDelay {
  readonly ms: number;
  readonly ahead: number;
}

export interface SubmitLimiterOptions {
  /** Read each time: the configuration may have been reloaded. */
  readonly perSecond: () => number;
  readonly now: () => number;
  readonly random: () => number;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** The longest wait inside an activity. */
const inlineMaxMs = 1_000;
/** No task waits longer for its next check: the rate may be raised, and other processes may have room. */
const returnMaxMs = 300_000;
/** A task that is this late is forgotten: it was cancelled, or it returned to another process. */
const lapsesMs = 1_000;
const turnsMax = 10_000;

interface Waiting extends OrderedTask {
  /** When it returns, on the clock of `now`. */
  readonly at: number;
}

export function createSubmitLimiter({ perSecond, now, random, sleep }: SubmitLimiterOptions): SubmitLimiter {
  const intervalMs = (): number => 1000 / perSecond();
  const waiting = new Map<string, Waiting>();
  const turns = createTurns();
  /** When the next token is free; in the past: as many as fit in between, at most a second's worth, are available. */
  let freeAt = 0;

  function dropLapsed(): void {
    for (const [task, { at }] of waiting) if (at < now() - lapsesMs) waiting.delete(task);
  }

  /** Milliseconds until the next token is free. A negative number says how long one has been free. */
  function untilFree(): number {
    const burstMs = Math.max(0, 1000 - intervalMs());
    freeAt = Math.max(freeAt, now() - burstMs);
    return freeAt - now();
  }

  async function takeToken(waitMs: number, signal: AbortSignal): Promise<void> {
    freeAt += intervalMs();
    try {
      if (waitMs > 0) await sleep(waitMs, signal);
    } catch (error) {
      freeAt -= intervalMs();
      throw error;
    }
  }

  function* overdue(): Iterable<Waiting> {
    for (const task of waiting.values()) if (task.at <= now()) yield task;
  }

  function mayTake({ isBack, ...task }: SubmitTurn, freeInMs: number): boolean {
    // A free token must not wait for tasks that come first: they may return to another process, and it would expire.
    if (isBack && freeInMs <= 0) return true;
    const first = countAhead(task, isBack ? overdue() : waiting.values(), turns);
    // The tasks that come first get the next tokens. This one may wait at most a second for the token after theirs.
    return freeInMs + first * intervalMs() <= inlineMaxMs;
  }

  return {
    async enter(request, signal) {
      dropLapsed();
      const freeInMs = untilFree();
      const { isBack: _isBack, ...task } = request;
      if (mayTake(request, freeInMs)) {
        waiting.delete(task.id);
        turns.note(task);
        await takeToken(freeInMs, signal);
        return undefined;
      }
      const ahead = countAhead(task, waiting.values(), turns);
      const inMs = Math.max(freeInMs, 0) + ahead * intervalMs();
      const ms = Math.round(Math.min(Math.max(inMs, inlineMaxMs), returnMaxMs * (0.9 + 0.1 * random())));
      waiting.set(task.id, { ...task, at: now() + ms });
      return { ms, ahead };
    },
    giveBack() {
      freeAt -= intervalMs();
    },
  };
}

function createTurns(): LastServed & { note(task: OrderedTask): void } {
  const served = new LRUCache<string, number>({ max: turnsMax });
  let count = 0;
  const keyOf = (account: string, model: string): string => JSON.stringify([account, model]);
  return {
    account: (account) => served.get(account) ?? 0,
    model: (account, model) => served.get(keyOf(account, model)) ?? 0,
    note({ account, model }) {
      count += 1;
      served.set(account, count);
      served.set(keyOf(account, model), count);
    },
  };
}
