/**
 * A token bucket with a burst of one second, for this process only. It can be paused while an upstream rejects
 * requests.
 */
export interface RateLimiter {
  take(): Promise<void>;
  pause(ms: number): void;
}

export interface RateLimiterOptions {
  readonly perSecond: () => number;
  /** A clock in milliseconds that cannot be set. */
  readonly monotonic: () => number;
  readonly sleep: (ms: number) => Promise<void>;
}

const pauseMaxMs = 300_000;

export function createRateLimiter({ perSecond, monotonic, sleep }: RateLimiterOptions): RateLimiter {
  let nextFreeAt = 0;
  return {
    async take() {
      const at = monotonic();
      const rate = perSecond();
      const intervalMs = 1000 / rate;
      const burst = Math.max(1, rate);
      nextFreeAt = Math.max(nextFreeAt, at - (burst - 1) * intervalMs);
      const waitMs = nextFreeAt - at;
      nextFreeAt += intervalMs;
      if (waitMs > 0) await sleep(waitMs);
    },
    pause(ms) {
      nextFreeAt = Math.max(nextFreeAt, monotonic() + Math.min(ms, pauseMaxMs));
    },
  };
}
