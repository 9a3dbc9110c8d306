/**
 * Paces the submissions of one credential in this process without blocking any of them: an early one learns when to
 * return, and the wait is a timer on the server. A place in the queue is an appointment, not a reserved token: one
 * that is missed costs no other task its turn.
 */
export interface SubmitLimiter {
  /** Undefined: a token was taken, at most a second later; send now. Otherwise: return after this long. */
  enter(request: SubmitTurn, signal: AbortSignal): Promise<number | undefined>;
  /** The token was not used after all. */
  giveBack(): void;
  /** The number of tasks of this process that are due to be submitted before this one. */
  countAhead(task: string): number;
}

export interface SubmitTurn {
  readonly task: string;
  /** Accounts take turns. */
  readonly account: string;
  /** It was here before, perhaps in another process: it does not queue behind those that have just arrived. */
  readonly isBack: boolean;
}

export interface SubmitLimiterOptions {
  /** Read each time: the configuration may have been reloaded. */
  readonly perSecond: () => number;
  readonly now: () => number;
  readonly random: () => number;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** The longest wait inside an activity. */
const inlineMaxMs = 1_000;
/** No task waits longer for its next check: the rate may be raised, and other processes may have room. */
const returnMaxMs = 300_000;
/** An appointment that is missed by this long is dropped: the task was cancelled, or went to another process. */
const lapsesMs = 10_000;

interface Appointment {
  readonly account: string;
  readonly at: number;
}

export function createSubmitLimiter({ perSecond, now, random, sleep }: SubmitLimiterOptions): SubmitLimiter {
  const intervalMs = (): number => 1000 / perSecond();
  const { all: appointments, dropLapsed, countDue, appoint } = createAppointments({ now, intervalMs });
  /** When the next token is free; in the past: as many as fit in between, at most a second's worth, are available. */
  let freeAt = 0;

  function untilFree(): number {
    const burstMs = Math.max(0, 1000 - intervalMs());
    freeAt = Math.max(freeAt, now() - burstMs);
    return Math.max(0, freeAt - now());
  }

  async function takeToken(waitMs: number, signal: AbortSignal): Promise<void> {
    freeAt += intervalMs();
    try {
      if (waitMs > 0) await sleep(waitMs, signal);
    } catch (error) {
      freeAt -= intervalMs();
      throw error;
    }
  }

  function mayTakeNow({ task, isBack }: SubmitTurn): boolean {
    // A token that is free has no owner: whoever has an appointment now may have come to another process.
    if (isBack && untilFree() === 0) return true;
    const kept = appointments.get(task);
    if (kept !== undefined) return kept.at <= now() + inlineMaxMs;
    return isBack || appointments.size === 0;
  }

  return {
    async enter(request, signal) {
      dropLapsed();
      const waitMs = untilFree();
      if (mayTakeNow(request) && waitMs <= inlineMaxMs) {
        appointments.delete(request.task);
        await takeToken(waitMs, signal);
        return undefined;
      }
      const kept = appointments.get(request.task);
      const isMissed = kept !== undefined && kept.at <= now() + inlineMaxMs;
      if (isMissed) {
        // Its time has come and others were faster: it returns among those that missed their turn, too.
        const at = now() + waitMs + intervalMs() * countDue() * random();
        appointments.set(request.task, { ...kept, at });
        return Math.round(at - now());
      }
      const at = kept?.at ?? appoint(request, now() + waitMs);
      return Math.round(Math.min(Math.max(at - now(), inlineMaxMs), returnMaxMs * (0.9 + 0.1 * random())));
    },
    giveBack() {
      freeAt -= intervalMs();
    },
    countAhead(task) {
      const at = appointments.get(task)?.at ?? Infinity;
      return [...appointments.values()].filter((other) => other.at < at).length;
    },
  };
}

/** Which task is to return when. */
function createAppointments({
  now,
  intervalMs,
}: {
  readonly now: () => number;
  readonly intervalMs: () => number;
}) {
  /** In the order in which they were made. */
  const appointments = new Map<string, Appointment>();

  function dropLapsed(): void {
    for (const [task, { at }] of appointments) if (at < now() - lapsesMs) appointments.delete(task);
  }

  function countDue(): number {
    let due = 0;
    for (const { at } of appointments.values()) if (at <= now() + inlineMaxMs) due += 1;
    return due;
  }

  /** At the end of the queue or, for an account that has few, in between. */
  function appoint({ task, account }: SubmitTurn, from: number): number {
    const accounts = new Set([account]);
    let last = from;
    for (const entry of appointments.values()) {
      accounts.add(entry.account);
      if (entry.account === account) last = Math.max(last, entry.at);
    }
    const at = last + intervalMs() * accounts.size;
    appointments.set(task, { account, at });
    return at;
  }

  return { all: appointments, dropLapsed, countDue, appoint };
}
