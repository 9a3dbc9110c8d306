import { LRUCache } from 'lru-cache';
import { countAhead } from '../task/fair-order.ts';
import type { LastServed, OrderedTask } from '../task/fair-order.ts';

/**
 * Paces the submissions of one credential in this process, in fair order, without blocking any of them: an early one
 * learns when to return, and the wait is a timer on the server. That time is not a reserved token: one that is missed
 * costs no other task its turn.
 */
export interface SubmitLimiter {
  /** Undefined: a token was taken, at most a second later; send now. */
  enter(request: SubmitTurn, signal: AbortSignal): Promise<SubmitDelay | undefined>;
  /** The token was not used after all. */
  giveBack(): void;
}

export interface SubmitTurn extends OrderedTask {
  /** It waited for its rate before, perhaps in another process, and its time has come. */
  readonly isBack: boolean;
}

/** `ms`: return after this time. `ahead`: the number of tasks of this process that come before this one. */
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
/** A task that is late by this much is not waited for: it was cancelled, or another process has it. */
const lapsesMs = 1_000;
const turnsMax = 10_000;

interface Waiting extends OrderedTask {
  /** The time at which it returns. */
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

  /** Milliseconds until the next token is free. Negative: since when. */
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
    // Otherwise the token would be lost: the tasks that come first may have gone to another process.
    if (isBack && freeInMs <= 0) return true;
    const first = countAhead(task, isBack ? overdue() : waiting.values(), turns);
    // Those that come first get the tokens of the next second first.
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
