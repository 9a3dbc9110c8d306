/** Work that a process repeats. */
export interface Rounds {
  /** One round, or the one that is under way. Never rejects. */
  readonly run: () => Promise<void>;
  /** One round after each interval; none keeps the process. */
  readonly start: () => void;
  /** Waits for the one that is under way. */
  readonly stop: () => Promise<void>;
}

export interface RoundsDeps {
  readonly everyMs: number;
  readonly work: () => Promise<void>;
  /** The next round tries anew. */
  readonly onError: (error: unknown) => void;
}

/** One at a time: a round that takes longer than the interval displaces those that were due meanwhile. */
export function createRounds({ everyMs, work, onError }: RoundsDeps): Rounds {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  const run = (): Promise<void> =>
    (running ??= work()
      .catch(onError)
      .finally(() => (running = undefined)));
  return {
    run,
    start: () => void (timer ??= setInterval(() => void run(), everyMs).unref()),
    async stop() {
      clearInterval(timer);
      timer = undefined;
      await running;
    },
  };
}
