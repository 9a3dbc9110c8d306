import { dayMs, hourMs } from '../base/times.ts';

/** Verifies the ledger once a day. Of all processes one does, and another takes over when it is gone. */
export interface DailyVerification {
  start(): void;
  /** Ends what runs: it is begun anew by whoever takes over. */
  stop(): Promise<void>;
  /** What the timer does. Never rejects, and does not wait for the verification. */
  turn(): Promise<void>;
  /** When no verification of this process runs. */
  idle(): Promise<void>;
}

export interface DailyVerificationDeps {
  /** Whether it is this process that verifies. */
  readonly duty: () => Promise<boolean>;
  /** Of those that came to their end, whoever asked for it. */
  readonly last: () => Promise<{ readonly startedAt: number } | undefined>;
  readonly verify: (signal: AbortSignal) => Promise<unknown>;
  /** Of the day (UTC). Undefined: nothing is verified unless somebody asks for it. */
  readonly hour: () => number | undefined;
  /** It is retried in an hour. */
  readonly onError: (error: unknown) => void;
  readonly now: () => number;
}

export const verificationTurnMs = 60_000;

export function createDailyVerification(deps: DailyVerificationDeps): DailyVerification {
  const { now } = deps;
  const since = now();
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

  async function turn(): Promise<void> {
    try {
      const hour = deps.hour();
      if (hour === undefined) return;
      if (!(await deps.duty())) return running?.abort();
      if (running !== undefined || now() < notBefore) return;
      // Where none was ever verified, the first hour that this process has seen begin.
      const { startedAt } = (await deps.last()) ?? { startedAt: since };
      if (startedAt < lastBegun(hour, now())) begin();
    } catch (error) {
      deps.onError(error);
    }
  }

  return {
    start: () => void (timer ??= setInterval(() => void turn(), verificationTurnMs).unref()),
    async stop() {
      clearInterval(timer);
      running?.abort();
      await running?.ended;
    },
    turn,
    idle: async () => running?.ended,
  };
}

/** When this hour of the day (UTC) began last. */
function lastBegun(hour: number, at: number): number {
  const today = at - (at % dayMs) + hour * hourMs;
  return today <= at ? today : today - dayMs;
}
