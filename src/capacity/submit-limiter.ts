import { createRecent } from '../base/recent.ts';
import { countAhead } from '../task/fair-order.ts';
import type { LastServed, OrderedTask } from '../task/fair-order.ts';

/**
 * Paces one credential's submissions in this process, in fair order, without blocking them. A task that comes too early
 * is given a time to return and waits in a timer on Temporal's server. No token is reserved for it, so a task that
 * never returns does not delay others.
 */
export interface SubmitLimiter {
  /** Returns undefined if a token was taken and the task may be sent now. Waits at most a second for a token. */
  enter(request: SubmitTurn, signal: AbortSignal): Promise<SubmitDelay | undefined>;
  /** Returns an unused token. */
  giveBack(): void;
}

export interface SubmitTurn extends OrderedTask {
  /** Whether the task has returned after being asked to, perhaps by another process. */
  readonly isBack: boolean;
}

/** The task should return after `ms`. `ahead` is the number of this process's tasks before it. */
export interface SubmitDelay {
  readonly ms: number;
  readonly ahead: number;
}

export interface SubmitLimiterOptions {
  /** Returns the rate. Read every time, because the configuration may have been reloaded. */
  readonly perSecond: () => number;
  readonly now: () => number;
  readonly random: () => number;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** The longest wait within an activity. */
const inlineMaxMs = 1_000;
/** The longest wait before the next check, because the rate may be raised and other processes may have room. */
const returnMaxMs = 300_000;
/** The delay after which a late task is forgotten. It was cancelled, or has returned to another process. */
const lapsesMs = 1_000;
const turnsMax = 10_000;

interface Waiting extends OrderedTask {
  /** The time when the task should return, by the clock `now`. */
  readonly at: number;
}

export function createSubmitLimiter({ perSecond, now, random, sleep }: SubmitLimiterOptions): SubmitLimiter {
  const intervalMs = (): number => 1000 / perSecond();
  const waiting = new Map<string, Waiting>();
  const turns = createTurns();
  /**
   * The time when the next token is free. If in the past, the tokens that have become free since then are available, up
   * to one second's worth.
   */
  let freeAt = 0;

  function dropLapsed(): void {
    for (const [task, { at }] of waiting) if (at < now() - lapsesMs) waiting.delete(task);
  }

  /** Returns the milliseconds until the next token is free. If negative, a token has been free for that long. */
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
    // A free token must not be reserved for tasks that come first: they may return to another process, and it would
    // expire.
    if (isBack && freeInMs <= 0) return true;
    const first = countAhead(task, isBack ? overdue() : waiting.values(), turns);
    // The tasks ahead get the next tokens. This task may wait at most a second for the token after theirs.
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
  const served = createRecent<number>(turnsMax);
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
