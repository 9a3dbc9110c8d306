import { nextQuestionMs } from './question-times.ts';
import { quantileOf, renderWindow } from '../models/render-times.ts';
import type { RenderTimes } from '../models/render-times.ts';

/** When to ask the upstream next. Pure: the same facts and the same random number give the same answer. */

export interface PollFacts {
  /** How long such renders take, learned or guessed. */
  readonly times: RenderTimes;
  /** Since the upstream accepted the job. */
  readonly elapsedMs: number;
  /** Until the task's deadline. */
  readonly remainingMs: number;
  /** One request of the credential's asks about all jobs that wait: a question costs next to nothing. */
  readonly lists: boolean;
  /** Questions about this job so far. */
  readonly polls: number;
  /** Consecutive errors. */
  readonly errors: number;
  /** The last error was the credential's: its poller says when the upstream is back. */
  readonly isShared?: boolean | undefined;
  /** 0-100, if the upstream reports it. */
  readonly progress?: number | undefined;
  /** What the upstream asked for. */
  readonly retryAfterMs?: number | undefined;
  /** In [0, 1). */
  readonly random: number;
}

export interface NextPoll {
  /** Milliseconds from now. */
  readonly delayMs: number;
  /** Too far away for an attempt that stays: a timer on the server carries it. */
  readonly isFar: boolean;
}

/** In the window in which renders end, where a list serves everybody. */
const steadyDelayMs = 1_000;
const shortestDelayMs = 500;
/** A timer on the server is late by up to a second, and the attempt begins after it. */
const leadMs = 1_500;
const earlyJitter = 0.05;
/** A timer on the server costs two writes: not worth it for less. */
const farMs = 8_000;
/** Without a list: questions about one job until all of its kind have ended. One more is for an attempt that was lost. */
const questionsMax = 11;
/** A timer on the server costs as much as two heartbeats of an attempt that stays. */
const stayedDelayMaxMs = 60_000;
/** Without a list and beyond that: a share of the time so far. */
const rareShare = 0.25;
const rarestDelayMs = 120_000;
const overtimeDelayMs = 15_000;
const longestDelayMs = 60_000;
/** A retry of an error that is the credential's: its poller decides when a request is made. */
const sharedDelayMs = 100;

/**
 * Until just before the earliest likely end in one step; then at a steady pace with a list, and without one when the
 * budget of questions is best spent (question-times.ts); slower in overtime. Jitter; never beyond what remains.
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
  // Jitter only towards the earlier side: the window must not be missed.
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

/** Without a list: what is left of the budget is spent on what is left of the time in which such renders end. */
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

/** A guess is corrected by an upstream's progress, once it has said enough to extrapolate from. */
function corrected({ times, progress, elapsedMs }: PollFacts): RenderTimes {
  if (times.samples > 0 || progress === undefined || progress < 10 || elapsedMs <= 0) return times;
  const factor = (elapsedMs * 100) / Math.min(progress, 100) / quantileOf(times, 0.5);
  return { ...times, points: times.points.map(({ ms, weight }) => ({ ms: ms * factor, weight })) };
}

/** ± 20 %. */
function jitterOf(random: number): number {
  return 0.8 + 0.4 * random;
}

function errorDelayMs(errors: number): number {
  return Math.min(2_000 * 2 ** Math.min(errors - 1, 10), longestDelayMs);
}
