import { quantileOf, renderWindow } from './render-times.ts';
import type { RenderTimes } from './render-times.ts';

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
  readonly isShared: boolean;
  /** 0-100, if the upstream reports it. */
  readonly progress?: number;
  /** What the upstream asked for. */
  readonly retryAfterMs?: number;
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
/** Without a list: the renders that are worth a question beyond the first are those between these two. */
const fewShare = 0.1;
const mostShare = 0.9;
/** Questions about one job until most of its kind have ended, and until nearly all have. */
const mostPolls = 9;
const pollsMax = 11;
/** Of the time so far, from then on. */
const rareShare = 0.4;
const overtimeDelayMs = 15_000;
const longestDelayMs = 60_000;
/** A retry of an error that is the credential's: its poller decides when a request is made. */
const sharedDelayMs = 100;

/**
 * Until just before the earliest likely end in one step; then at a steady pace with a list, and without one at a share of
 * the time so far; slower in overtime. Jitter of ± 20 %; never beyond what remains.
 */
export function nextPoll(facts: PollFacts): NextPoll {
  const { delayMs, isFar } = wishedPoll(facts);
  const polite = Math.max(delayMs, facts.retryAfterMs ?? 0);
  const bounded = Math.max(0, Math.min(Math.round(polite), facts.remainingMs - shortestDelayMs));
  return { delayMs: bounded, isFar: isFar && bounded > farMs };
}

function wishedPoll(facts: PollFacts): NextPoll {
  const jitter = 0.8 + 0.4 * facts.random;
  if (facts.errors > 0) {
    const delayMs = facts.isShared ? sharedDelayMs : errorDelayMs(facts.errors);
    return { delayMs: delayMs * jitter, isFar: true };
  }
  const { elapsedMs } = facts;
  const times = corrected(facts);
  const { earliestMs, latestMs } = renderWindow(times, facts.lists ? undefined : fewShare);
  // Jitter only towards the earlier side: the window must not be missed.
  const opensMs = earliestMs * (1 - earlyJitter) - leadMs;
  if (elapsedMs < opensMs) {
    const delayMs = opensMs + earliestMs * earlyJitter * (1 - facts.random) - elapsedMs;
    return { delayMs: Math.max(delayMs, shortestDelayMs), isFar: true };
  }
  if (elapsedMs > latestMs) return { delayMs: lateDelayMs(facts, times) * jitter, isFar: true };
  return { delayMs: (facts.lists ? steadyDelayMs : spacingMs(facts, times)) * jitter, isFar: false };
}

/**
 * Each question comes after the same share of the time so far, so that the budget for most renders lasts until most have
 * ended; a few more are for the slow ones.
 */
function spacingMs({ elapsedMs, polls }: PollFacts, times: RenderTimes): number {
  const mostMs = quantileOf(times, mostShare);
  const left = Math.max(mostPolls - polls, 1);
  const { latestMs } = renderWindow(times);
  const step =
    elapsedMs < mostMs
      ? elapsedMs * ((mostMs / elapsedMs) ** (1 / left) - 1)
      : (latestMs - mostMs) / (pollsMax - mostPolls);
  return Math.max(step, shortestDelayMs);
}

function lateDelayMs({ elapsedMs, lists, polls }: PollFacts, times: RenderTimes): number {
  const usualMs = quantileOf(times, 0.5);
  const longest = elapsedMs > 10 * usualMs ? longestDelayMs : overtimeDelayMs;
  const share = lists || polls < pollsMax ? 0.1 : rareShare;
  return Math.min(Math.max(elapsedMs * share, steadyDelayMs), longest);
}

/** A guess is corrected by an upstream's progress, once it has said enough to extrapolate from. */
function corrected({ times, progress, elapsedMs }: PollFacts): RenderTimes {
  if (times.samples > 0 || progress === undefined || progress < 10 || elapsedMs <= 0) return times;
  const factor = (elapsedMs * 100) / Math.min(progress, 100) / quantileOf(times, 0.5);
  return { ...times, points: times.points.map(({ ms, weight }) => ({ ms: ms * factor, weight })) };
}

function errorDelayMs(errors: number): number {
  return Math.min(2_000 * 2 ** Math.min(errors - 1, 10), longestDelayMs);
}
