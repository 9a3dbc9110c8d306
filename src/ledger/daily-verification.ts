import { periods } from '../base/periods.ts';
import { dayMs, hourMs } from '../base/times.ts';

/** One process verifies the ledger once a day. If it stops, another process takes over. */
export interface DailyVerification {
  start(): void;
  stop(): Promise<void>;
  /** The timer calls this. It never rejects and does not wait for the verification to finish. */
  turn(): Promise<void>;
  idle(): Promise<void>;
}

export interface DailyVerificationDeps {
  readonly duty: () => Promise<boolean>;
  readonly last: () => Promise<{ readonly startedAt: number } | undefined>;
  readonly verify: (signal: AbortSignal) => Promise<unknown>;
  /** Returns the hour, in UTC. Returns undefined if the ledger is verified only on demand. */
  readonly hour: () => number | undefined;
  readonly onError: (error: unknown) => void;
  readonly now: () => number;
}

export function createDailyVerification(deps: DailyVerificationDeps): DailyVerification {
  const { now } = deps;
  const since = now();
  let verifiedAt = -Infinity;
  let running: { readonly ended: Promise<void>; readonly abort: () => void } | undefined;
  let notBefore = 0;
  let timer: NodeJS.Timeout | undefined;

  function begin(): void {
    const aborting = new AbortController();
    const verify = async (): Promise<void> => {
      try {
        await deps.verify(aborting.signal);
      } catch (error) {
        notBefore = now() + hourMs;
        if (!aborting.signal.aborted) deps.onError(error);
      } finally {
        running = undefined;
      }
    };
    running = { ended: verify(), abort: () => aborting.abort() };
  }

  async function isDue(hour: number): Promise<boolean> {
    const due = lastBegun(hour, now());
    if (verifiedAt >= due) return false;
    // If the ledger was never verified, the first day starts with this process.
    verifiedAt = (await deps.last())?.startedAt ?? since;
    return verifiedAt < due;
  }

  async function turn(): Promise<void> {
    try {
      const hour = deps.hour();
      if (hour === undefined) return;
      if (running === undefined && !(await isDue(hour))) return;
      if (!(await deps.duty())) running?.abort();
      // After a failure, this process pauses but remains responsible. Otherwise, one process after another would take
      // over and fail in the same way.
      else if (running === undefined && now() >= notBefore) begin();
    } catch (error) {
      deps.onError(error);
    }
  }

  return {
    start: () => void (timer ??= setInterval(() => void turn(), periods.verification.everyMs).unref()),
    async stop() {
      clearInterval(timer);
      running?.abort();
      await running?.ended;
    },
    turn,
    idle: async () => running?.ended,
  };
}

function lastBegun(hour: number, at: number): number {
  const today = at - (at % dayMs) + hour * hourMs;
  return today <= at ? today : today - dayMs;
}
