/**
 * A token bucket with a burst of one second, for this process only. Tokens go to callers in order. It can be paused
 * while an upstream rejects requests.
 */
export interface RateLimiter {
  take(): Promise<void>;
  pause(ms: number): void;
}

export interface RateLimiterOptions {
  /** A configuration change applies to callers that are already waiting. */
  readonly perSecond: () => number;
  /** A monotonic clock, in milliseconds. */
  readonly monotonic: () => number;
  readonly sleep: (ms: number) => Promise<void>;
}

const pauseMaxMs = 300_000;
/** The rate may change during a wait, so it is read again after this time at the latest. */
const lookEveryMs = 1_000;
/** Sums of fractions may be this much below a whole token. */
const almost = 1e-9;

export function createRateLimiter({ perSecond, monotonic, sleep }: RateLimiterOptions): RateLimiter {
  let tokens = 0;
  let countedAt = -Infinity;
  let pausedUntil = -Infinity;
  let turn: Promise<void> = Promise.resolve();

  /** Milliseconds until the next token, or 0 if there is one. */
  function untilFree(): number {
    const [at, rate] = [monotonic(), perSecond()];
    if (at < pausedUntil) return pausedUntil - at;
    const gained = ((at - Math.max(countedAt, pausedUntil)) / 1000) * rate;
    tokens = Math.min(tokens + gained, Math.max(1, rate));
    countedAt = at;
    return tokens >= 1 - almost ? 0 : ((1 - tokens) / rate) * 1000;
  }

  async function next(before: Promise<void>): Promise<void> {
    await before;
    for (let waitMs = untilFree(); waitMs > 0; waitMs = untilFree())
      await sleep(Math.min(waitMs, lookEveryMs));
    tokens -= 1;
  }

  return {
    take() {
      turn = next(turn);
      return turn;
    },
    pause(ms) {
      pausedUntil = Math.max(pausedUntil, monotonic() + Math.min(ms, pauseMaxMs));
      // The upstream is then tried with one request rather than with a burst.
      tokens = 1;
    },
  };
}
