/**
 * Decides how often a process reads what other processes write. An idle process reads rarely. When it is used again, it
 * first waits until everything has been read once.
 */
export interface Pace {
  /** Runs a unit of work, such as a request or an activity. The process then stays busy for some time. */
  readonly use: <T>(run: () => Promise<T>) => Promise<T>;
  /**
   * Like `use`, but for work that is unlikely to be followed by more. The process becomes idle again as soon as this
   * work has finished.
   */
  readonly useOnce: <T>(run: () => Promise<T>) => Promise<T>;
  readonly every: (period: Period, work: () => Promise<void>) => () => void;
  /** Like `every`, but when an idle process is used again, the use waits for this read. */
  readonly follow: (period: Period, read: () => Promise<void>) => () => void;
}

export interface Period {
  readonly everyMs: number;
  readonly idleMs: number;
}

const idleAfterMs = 15_000;
/** The first use after an idle period waits at most this long for the reads. Then it continues with older data. */
const wakeMsMax = 2_000;

/** @param now - A monotonic clock in milliseconds. */
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

  async function runUse<T>(run: () => Promise<T>, atEnd: () => void): Promise<T> {
    if (isIdle()) waking ??= wake();
    uses += 1;
    try {
      if (waking !== undefined) await waking;
      return await run();
    } finally {
      uses -= 1;
      atEnd();
    }
  }

  return {
    use: (run) => runUse(run, () => (usedAt = now())),
    useOnce: (run) => runUse(run, () => undefined),
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
