/**
 * How often a process reads what others write: seldom while nobody uses it. The first use after that waits until
 * everything was read once, so that it decides by nothing older than a busy process does.
 */
export interface Pace {
  /** Runs one use of the process: a request, an activity. */
  readonly use: <T>(run: () => Promise<T>) => Promise<T>;
  /** Repeats work that must not reject, and returns what ends that. */
  readonly every: (period: Period, work: () => Promise<void>) => () => void;
  /** The same for a read that the first use waits for. */
  readonly follow: (period: Period, read: () => Promise<void>) => () => void;
}

export interface Period {
  readonly everyMs: number;
  /** While nobody uses the process. */
  readonly idleMs: number;
}

const idleAfterMs = 15_000;
/** If the database does not answer within this time, the use proceeds with the state that was read before. */
const wakeMsMax = 2_000;

/** `now`: milliseconds of a monotonic clock. */
export function createPace(now: () => number): Pace {
  const reads = new Set<() => Promise<void>>();
  let uses = 0;
  let usedAt = now();
  let waking: Promise<void> | undefined;
  const isIdle = (): boolean => uses === 0 && now() - usedAt >= idleAfterMs;

  async function wake(): Promise<void> {
    const all = Promise.all([...reads].map((read) => read()));
    await Promise.race([all, new Promise((resolve) => setTimeout(resolve, wakeMsMax).unref())]);
    waking = undefined;
  }

  function every({ everyMs, idleMs }: Period, work: () => Promise<void>): () => void {
    let workedAt = now();
    const tick = (): void => {
      if (isIdle() && now() - workedAt < idleMs - everyMs / 2) return;
      workedAt = now();
      void work();
    };
    const timer = setInterval(tick, everyMs).unref();
    return () => clearInterval(timer);
  }

  return {
    async use(run) {
      if (isIdle()) waking ??= wake();
      uses += 1;
      try {
        if (waking !== undefined) await waking;
        return await run();
      } finally {
        uses -= 1;
        usedAt = now();
      }
    },
    every,
    follow(period, read) {
      reads.add(read);
      const end = every(period, read);
      return () => {
        reads.delete(read);
        end();
      };
    },
  };
}

/** A read that a process repeats between `start` and `stop`. It must not reject. */
export function following(period: Period, read: () => Promise<void>) {
  let end: (() => void) | undefined;
  return {
    start(pace: Pace): void {
      end ??= pace.follow(period, read);
    },
    stop(): void {
      end?.();
      end = undefined;
    },
  };
}
