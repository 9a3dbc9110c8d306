import { periods } from '../base/periods.ts';
import { dayMs, hourMs } from '../base/times.ts';

/** Verifies the ledger once a day in one process. If that process ends, another takes over. */
export interface DailyVerification {
  start(): void;
  /** Stops a running verification. The next process starts from the beginning. */
  stop(): Promise<void>;
  /** Runs on each timer tick. Never rejects and does not wait for the verification. */
  turn(): Promise<void>;
  /** Resolves once no verification is running in this process. */
  idle(): Promise<void>;
}

export interface DailyVerificationDeps {
  /** Whether this process is responsible for verifying. */
  readonly duty: () => Promise<boolean>;
  /** Returns the latest completed verification, including those requested by an operator. */
  readonly last: () => Promise<{ readonly startedAt: number } | undefined>;
  readonly verify: (signal: AbortSignal) => Promise<unknown>;
  /** Returns the hour of the day (UTC). Undefined if the ledger is verified only on demand. */
  readonly hour: () => number | undefined;
  /** Called when a verification fails. The verification is retried in an hour. */
  readonly onError: (error: unknown) => void;
  readonly now: () => number;
}

export function createDailyVerification(deps: DailyVerificationDeps): DailyVerification {
  const { now } = deps;
  const since = now();
  /** When the latest known verification started. */
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

  /** After the first call, sends no command until the hour has come. */
  async function isDue(hour: number): Promise<boolean> {
    const due = lastBegun(hour, now());
    if (verifiedAt >= due) return false;
    // A ledger without a verification counts as verified when this process started.
    verifiedAt = (await deps.last())?.startedAt ?? since;
    return verifiedAt < due;
  }

  async function turn(): Promise<void> {
    try {
      const hour = deps.hour();
      if (hour === undefined) return;
      if (running === undefined && !(await isDue(hour))) return;
      if (!(await deps.duty())) running?.abort();
      // While it pauses after a failure, it keeps the duty, so that no other process repeats the failure.
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

/** Returns when this hour of the day (UTC) last began. */
function lastBegun(hour: number, at: number): number {
  const today = at - (at % dayMs) + hour * hourMs;
  return today <= at ? today : today - dayMs;
}
