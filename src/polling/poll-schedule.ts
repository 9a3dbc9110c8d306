import type { PollMemory } from './poll-memory.ts';
import { nextQuestionMs } from './question-times.ts';
import { quantileOf, renderWindow, type RenderTimes } from '../models/render-times.ts';

/** Decides when to poll the upstream next. Pure: the same facts and random number give the same result. */

export interface PollFacts extends Pick<
  PollMemory,
  'polls' | 'errors' | 'isShared' | 'progress' | 'retryAfterMs'
> {
  readonly times: RenderTimes;
  readonly elapsedMs: number;
  readonly remainingMs: number;
  /**
   * True if one of the credential's requests covers all waiting jobs, so that an additional question costs almost
   * nothing.
   */
  readonly lists: boolean;
  /** In [0, 1). */
  readonly random: number;
}

export interface NextPoll {
  readonly delayMs: number;
  /** True if the delay is too long to wait in this process, so that it becomes a timer on the server. */
  readonly isFar: boolean;
}

/** The polling interval while renders are likely to end, if one list covers all jobs. */
const steadyDelayMs = 1_000;
const shortestDelayMs = 500;
/** The lead time of a server-side timer. It may fire up to a second late, and the attempt starts only afterwards. */
const leadMs = 1_500;
const earlyJitter = 0.05;
/** A server-side timer costs two writes, so shorter delays do not use one. */
const farMs = 8_000;
/**
 * How many times a job may be polled, without a list, until all renders of its kind have finished. One more poll is
 * reserved for a lost attempt.
 */
const questionsMax = 11;
/**
 * The longest delay for which an attempt waits in this process. A server-side timer costs as much as the two heartbeats
 * of such a wait.
 */
const stayedDelayMaxMs = 60_000;
/** The delay as a fraction of the elapsed time, used without a list once the budget is spent. */
const rareShare = 0.25;
const rarestDelayMs = 120_000;
const overtimeDelayMs = 15_000;
const longestDelayMs = 60_000;
/** The delay after an error that concerns the credential. The credential's poller decides when to send a request. */
const sharedDelayMs = 100;

/**
 * Decides when to poll next. The first delay lasts until just before the earliest likely end. After that, polls follow
 * at a steady pace if there is a list. Without a list, a limited number of polls is spent where it helps most
 * (question-times.ts). In overtime, polls become less frequent. Delays have jitter and never exceed the remaining time.
 */
export function nextPoll(facts: PollFacts): NextPoll {
  const { delayMs, isFar } = wishedPoll(facts);
  const polite = Math.max(delayMs, facts.retryAfterMs ?? 0);
  const bounded = Math.max(0, Math.min(Math.round(polite), facts.remainingMs - shortestDelayMs));
  return { delayMs: bounded, isFar: isFar && bounded > farMs };
}

function wishedPoll(facts: PollFacts): NextPoll {
  if (facts.errors > 0) {
    const delayMs = facts.isShared === true ? sharedDelayMs : errorDelayMs(facts.errors);
    return { delayMs: delayMs * jitterOf(facts.random), isFar: true };
  }
  const times = corrected(facts);
  return facts.lists ? listedPoll(facts, times) : budgetedPoll(facts, times);
}

function listedPoll({ elapsedMs, random }: PollFacts, times: RenderTimes): NextPoll {
  const { earliestMs, latestMs } = renderWindow(times);
  // Jitter only makes the poll earlier, because the window must not be missed.
  const opensMs = earliestMs * (1 - earlyJitter) - leadMs;
  if (elapsedMs < opensMs) {
    const delayMs = opensMs + earliestMs * earlyJitter * (1 - random) - elapsedMs;
    return { delayMs: Math.max(delayMs, shortestDelayMs), isFar: true };
  }
  if (elapsedMs <= latestMs) return { delayMs: steadyDelayMs * jitterOf(random), isFar: false };
  const longest = elapsedMs > 10 * quantileOf(times, 0.5) ? longestDelayMs : overtimeDelayMs;
  const delayMs = Math.min(Math.max(elapsedMs * 0.1, steadyDelayMs), longest) * jitterOf(random);
  return { delayMs, isFar: delayMs > stayedDelayMaxMs };
}

/** Spreads the rest of the budget over the remaining time in which such renders end. Used without a list. */
function budgetedPoll({ elapsedMs, polls, random }: PollFacts, times: RenderTimes): NextPoll {
  const left = questionsMax - polls;
  const atMs = left > 0 ? nextQuestionMs(times, { elapsedMs, left, jitter: random - 0.5 }) : undefined;
  if (atMs !== undefined) {
    const delayMs = Math.max(atMs - elapsedMs, shortestDelayMs);
    return { delayMs, isFar: elapsedMs < renderWindow(times).earliestMs || delayMs > stayedDelayMaxMs };
  }
  const delayMs = Math.min(Math.max(elapsedMs * rareShare, steadyDelayMs), rarestDelayMs);
  return { delayMs: delayMs * jitterOf(random), isFar: true };
}

/** Corrects an estimated render time, once the upstream's progress is high enough to extrapolate from. */
function corrected({ times, progress, elapsedMs }: PollFacts): RenderTimes {
  if (times.samples > 0 || progress === undefined || progress < 10 || elapsedMs <= 0) return times;
  const factor = (elapsedMs * 100) / Math.min(progress, 100) / quantileOf(times, 0.5);
  return { ...times, points: times.points.map(({ ms, weight }) => ({ ms: ms * factor, weight })) };
}

/** A factor of 1 ± 20 %. */
function jitterOf(random: number): number {
  return 0.8 + 0.4 * random;
}

function errorDelayMs(errors: number): number {
  return Math.min(2_000 * 2 ** Math.min(errors - 1, 10), longestDelayMs);
}
