/** A token bucket with one second of burst, and a pause for when an upstream says "not now". Per process. */
export interface RateLimiter {
  /** Resolves when a token is available. */
  take(): Promise<void>;
  /** Lets no request through for this long. */
  pause(ms: number): void;
}

export interface RateLimiterOptions {
  /** Asked again for each token: a reload may change it. */
  readonly perSecond: () => number;
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<void>;
}

const pauseMaxMs = 300_000;

export function createRateLimiter({ perSecond, now, sleep }: RateLimiterOptions): RateLimiter {
  /** The time at which the tokens that are already promised will have been used. */
  let nextFreeAt = 0;
  return {
    async take() {
      const at = now();
      const rate = perSecond();
      const intervalMs = 1000 / rate;
      const burst = Math.max(1, rate);
      nextFreeAt = Math.max(nextFreeAt, at - (burst - 1) * intervalMs);
      const waitMs = nextFreeAt - at;
      nextFreeAt += intervalMs;
      if (waitMs > 0) await sleep(waitMs);
    },
    pause(ms) {
      nextFreeAt = Math.max(nextFreeAt, now() + Math.min(ms, pauseMaxMs));
    },
  };
}
