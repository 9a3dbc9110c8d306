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
  /** True if one request covers all jobs of the credential, so that another job costs almost nothing to poll. */
  readonly lists: boolean;
  /** In [0, 1). */
  readonly random: number;
}

export interface NextPoll {
  readonly delayMs: number;
  /** True if the delay is too long to wait in this process. The attempt then ends, and the server waits instead. */
  readonly isFar: boolean;
}

/** The delay between polls while renders are likely to end, if one list covers all jobs. */
const steadyDelayMs = 1_000;
const shortestDelayMs = 500;
/**
 * A poll that waits on the server may be late, because the timer may fire up to a second late and the attempt starts
 * only after that.
 */
const leadMs = 1_500;
const earlyJitter = 0.05;
/** A timer on the server costs two writes, so shorter delays wait in this process. */
const farMs = 8_000;
/**
 * Without lists, a job is polled at most this many times before all renders of its kind should have finished. One more
 * poll is reserved for a lost attempt.
 */
const questionsMax = 11;
/**
 * An attempt may wait this long in this process. For longer delays, a timer on the server costs less than the
 * heartbeats.
 */
const stayedDelayMaxMs = 60_000;
/**
 * Without lists, a job is polled rarely once its budget of polls is spent. The delay is then this fraction of the
 * elapsed time.
 */
const rareShare = 0.25;
const rarestDelayMs = 120_000;
const overtimeDelayMs = 15_000;
const longestDelayMs = 60_000;
/**
 * The delay after an error that concerns the credential. It is short, because the credential's poller decides when to
 * send the request.
 */
const sharedDelayMs = 100;

/**
 * Polls first just before the earliest likely end. With lists, the following polls are evenly spaced. Without lists, a
 * limited number of polls is spent where it helps most (see question-times.ts). In overtime, polls become less
 * frequent. Delays have jitter and never exceed the remaining time.
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
  // The jitter only makes the poll earlier, because the start of the window must not be missed.
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

/** Used without lists. Spreads the remaining polls over the time in which such renders end. */
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

/** Corrects the estimate if the upstream reports enough progress to extrapolate from. */
function corrected({ times, progress, elapsedMs }: PollFacts): RenderTimes {
  if (times.samples > 0 || progress === undefined || progress < 10 || elapsedMs <= 0) return times;
  const factor = (elapsedMs * 100) / Math.min(progress, 100) / quantileOf(times, 0.5);
  return { ...times, points: times.points.map(({ ms, weight }) => ({ ms: ms * factor, weight })) };
}

function jitterOf(random: number): number {
  return 0.8 + 0.4 * random;
}

function errorDelayMs(errors: number): number {
  return Math.min(2_000 * 2 ** Math.min(errors - 1, 10), longestDelayMs);
}
