import type { Pace } from './pace.ts';

export interface Rounds {
  /** Runs a round or, if one is in progress, waits for that one instead. Never rejects. */
  readonly run: () => Promise<void>;
  /** The timer does not keep the process alive. */
  readonly start: (pace?: Pace) => void;
  readonly stop: () => Promise<void>;
}

export interface RoundsDeps {
  readonly everyMs: number;
  /** Used while `pace` considers the process idle. Defaults to `everyMs`. */
  readonly idleMs?: number;
  readonly work: () => Promise<void>;
  readonly onError: (error: unknown) => void;
}

/** Runs one round at a time. A round that becomes due while another is running is skipped. */
export function createRounds({ everyMs, idleMs = everyMs, work, onError }: RoundsDeps): Rounds {
  let end: (() => void) | undefined;
  let running: Promise<void> | undefined;
  const run = (): Promise<void> =>
    (running ??= work()
      .catch(onError)
      .finally(() => (running = undefined)));
  return {
    run,
    start(pace) {
      end ??= pace === undefined ? every(everyMs, run) : pace.every({ everyMs, idleMs }, run);
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
