/** When to ask the upstream next. Pure: the same facts and the same random number give the same delay. */

export interface PollFacts {
  /** The model's usual render time. */
  readonly expectedMs: number;
  /** Since the upstream accepted the job. */
  readonly elapsedMs: number;
  /** Until the task's deadline. */
  readonly remainingMs: number;
  /** Consecutive poll errors. */
  readonly errors: number;
  /** 0-100, if the upstream reports it. */
  readonly progress?: number;
  /** What the upstream asked for. */
  readonly retryAfterMs?: number;
  /** In [0, 1). */
  readonly random: number;
}

/** Close to the expected end, and for jobs that are expected to be short. */
const shortestDelayMs = 1_000;
const overtimeDelayMs = 15_000;
const longestDelayMs = 60_000;
/** The first question comes at this share of the expected time. */
const firstPollShare = 0.6;

/**
 * Milliseconds until the next poll: up to 60 % of the expected time in one step, then a tenth of it at a time,
 * slower again in overtime; errors double it; jitter of ± 20 %; never beyond what remains.
 */
export function nextPollDelayMs(facts: PollFacts): number {
  const wished = facts.errors > 0 ? errorDelayMs(facts.errors) : plannedDelayMs(facts);
  const jittered = wished * (0.8 + 0.4 * facts.random);
  const polite = Math.max(jittered, facts.retryAfterMs ?? 0);
  return Math.max(0, Math.min(Math.round(polite), facts.remainingMs - shortestDelayMs));
}

function plannedDelayMs(facts: PollFacts): number {
  const expectedEndMs = estimateEndMs(facts);
  const first = expectedEndMs * firstPollShare;
  if (facts.elapsedMs < first) return Math.max(first - facts.elapsedMs, shortestDelayMs);
  const step = clamp(expectedEndMs / 10, shortestDelayMs, 10_000);
  if (facts.elapsedMs <= expectedEndMs * 1.5) return step;
  return clamp(
    facts.elapsedMs / 10,
    step,
    facts.elapsedMs > 10 * expectedEndMs ? longestDelayMs : overtimeDelayMs,
  );
}

/** An upstream's progress corrects the model's usual time, once it has said enough to extrapolate from. */
function estimateEndMs(facts: PollFacts): number {
  if (facts.progress === undefined || facts.progress < 10 || facts.elapsedMs <= 0) return facts.expectedMs;
  return (facts.elapsedMs * 100) / Math.min(facts.progress, 100);
}

function errorDelayMs(errors: number): number {
  return Math.min(2_000 * 2 ** Math.min(errors - 1, 10), longestDelayMs);
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(Math.max(value, low), Math.max(low, high));
}
