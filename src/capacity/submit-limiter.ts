import { createRecent } from '../base/recent.ts';
import { countAhead, type LastServed, type OrderedTask } from '../task/fair-order.ts';

/**
 * Paces one credential's submissions in this process, in fair order. A task that comes too early is assigned a time to
 * return, and waits on the Temporal server. It reserves no token, so a task that never returns does not delay others.
 */
export interface SubmitLimiter {
  /** Returns undefined if the task may submit now. Waits up to a second for a token. */
  enter(request: SubmitTurn, signal: AbortSignal): Promise<SubmitDelay | undefined>;
  giveBack(): void;
}

export interface SubmitTurn extends OrderedTask {
  /** True if the task was asked to return later, perhaps by another process, and has now done so. */
  readonly isBack: boolean;
}

/** When the task should return. `ahead` is the number of tasks in this process that come first. */
export interface SubmitDelay {
  readonly ms: number;
  readonly ahead: number;
}

export interface SubmitLimiterOptions {
  readonly perSecond: () => number;
  /** A monotonic clock, in milliseconds. */
  readonly monotonic: () => number;
  readonly random: () => number;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
}

const inlineMaxMs = 1_000;
/**
 * A task asks again after this time at the latest, because the rate may have been raised or another process may have
 * room.
 */
const returnMaxMs = 300_000;
/** A task that is this late is forgotten, because it was probably cancelled or has gone to another process. */
const lapsesMs = 1_000;
const turnsMax = 10_000;

interface Waiting extends OrderedTask {
  readonly at: number;
}

export function createSubmitLimiter(options: SubmitLimiterOptions): SubmitLimiter {
  const { monotonic, random } = options;
  const tokens = createTokens(options);
  const waiting = new Map<string, Waiting>();
  const turns = createTurns();

  function dropLapsed(): void {
    for (const [task, { at }] of waiting) if (at < monotonic() - lapsesMs) waiting.delete(task);
  }

  function* overdue(): Iterable<Waiting> {
    for (const task of waiting.values()) if (task.at <= monotonic()) yield task;
  }

  function mayTake({ isBack, ...task }: SubmitTurn, freeInMs: number): boolean {
    // Do not save a free token for tasks that come first. They may return to another process, and the token would be
    // lost.
    if (isBack && freeInMs <= 0) return true;
    const first = countAhead(task, isBack ? overdue() : waiting.values(), turns);
    // The tasks ahead get the next tokens. This task may wait up to a second for the one after that.
    return freeInMs + first * tokens.intervalMs() <= inlineMaxMs;
  }

  return {
    async enter(request, signal) {
      dropLapsed();
      const freeInMs = tokens.untilFree();
      const { isBack: _isBack, ...task } = request;
      if (mayTake(request, freeInMs)) {
        waiting.delete(task.id);
        turns.note(task);
        await tokens.take(freeInMs, signal);
        return undefined;
      }
      const ahead = countAhead(task, waiting.values(), turns);
      const inMs = Math.max(freeInMs, 0) + ahead * tokens.intervalMs();
      const ms = Math.round(Math.min(Math.max(inMs, inlineMaxMs), returnMaxMs * (0.9 + 0.1 * random())));
      waiting.set(task.id, { ...task, at: monotonic() + ms });
      return { ms, ahead };
    },
    giveBack: tokens.giveBack,
  };
}

function createTokens({ perSecond, monotonic, sleep }: SubmitLimiterOptions) {
  const intervalMs = (): number => 1000 / perSecond();
  /**
   * When the next token is free. If this time is past, the tokens since then are available, up to one second's worth.
   */
  let freeAt = 0;
  let knownRate = perSecond();

  function giveBack(): void {
    freeAt -= intervalMs();
  }

  return {
    intervalMs,
    giveBack,
    untilFree(): number {
      const rate = perSecond();
      // The tokens that are owed take as long as they do at the new rate.
      if (freeAt > monotonic()) freeAt = monotonic() + (freeAt - monotonic()) * (knownRate / rate);
      knownRate = rate;
      const burstMs = Math.max(0, 1000 - intervalMs());
      freeAt = Math.max(freeAt, monotonic() - burstMs);
      return freeAt - monotonic();
    },
    async take(waitMs: number, signal: AbortSignal): Promise<void> {
      freeAt += intervalMs();
      try {
        if (waitMs > 0) await sleep(waitMs, signal);
      } catch (error) {
        giveBack();
        throw error;
      }
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
