import type { Pace } from './pace.ts';

/** Work that a process repeats. */
export interface Rounds {
  /** One round, or the one that is under way. Never rejects. */
  readonly run: () => Promise<void>;
  /** Runs a round after each interval. With a pace, an idle process runs fewer. The timer keeps no process alive. */
  readonly start: (pace?: Pace) => void;
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
  let end: (() => void) | undefined;
  let running: Promise<void> | undefined;
  const run = (): Promise<void> =>
    (running ??= work()
      .catch(onError)
      .finally(() => (running = undefined)));
  return {
    run,
    start(pace) {
      end ??= pace === undefined ? every(everyMs, run) : pace.every({ everyMs, idleMs: 6 * everyMs }, run);
    },
    async stop() {
      end?.();
      end = undefined;
      await running;
    },
  };
}

function every(ms: number, run: () => Promise<void>): () => void {
  const timer = setInterval(() => void run(), ms).unref();
  return () => clearInterval(timer);
}
