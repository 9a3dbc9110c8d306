import type { GenerationRequest } from './request.ts';

/**
 * How long renders take, learned from those that succeeded. Pure: a few dozen samples for each kind of output, of which
 * old ones count less. Nothing here trusts what was stored.
 */

/** What renders share a distribution. `output` as `renderedOutput` names it. */
export interface RenderKind {
  readonly channel: string;
  readonly model: string;
  readonly output: string;
}

export interface RenderSample {
  /** From the upstream's acceptance to the end of the render. */
  readonly ms: number;
  /** When it ended, in Unix milliseconds. */
  readonly at: number;
}

/** Sorted by time; `weight` is the part of the whole, and all weights together are 1. Never empty. */
export interface RenderTimes {
  readonly points: readonly { readonly ms: number; readonly weight: number }[];
  /** How many samples it rests on; 0: it is the configured guess. */
  readonly samples: number;
}

/** Of one kind of output, in MongoDB and in memory. */
export const renderSamplesMax = 48;
/** Fewer say too little about the spread. */
const samplesMin = 5;
const halfLifeMs = 3 * 24 * 3_600_000;
const renderMsMax = 7 * 24 * 3_600_000;

/** Undefined: there are too few usable samples. A time in the future, of another clock, counts as now. */
export function learnedTimes(samples: readonly RenderSample[], now: number): RenderTimes | undefined {
  const usable = samples.filter(isUsable);
  if (usable.length < samplesMin) return undefined;
  const newest = Math.min(now, Math.max(...usable.map(({ at }) => at)));
  // Relative to the newest: a model that nobody used for a month keeps what is known of it.
  const weighed = usable.map(({ ms, at }) => ({
    ms,
    weight: 0.5 ** (Math.max(newest - at, 0) / halfLifeMs),
  }));
  const total = weighed.reduce((sum, { weight }) => sum + weight, 0);
  const points = weighed.map(({ ms, weight }) => ({ ms, weight: weight / total }));
  return { points: points.toSorted((one, other) => one.ms - other.ms), samples: usable.length };
}

export function isUsable({ ms, at }: RenderSample): boolean {
  return Number.isFinite(ms) && ms > 0 && ms <= renderMsMax && Number.isFinite(at);
}

/** Shares of the configured time, wide enough for a guess. */
const guessedShares = [0.45, 0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.25, 1.4, 1.6, 2];

export function guessedTimes(expectedMs: number): RenderTimes {
  const weight = 1 / guessedShares.length;
  return { points: guessedShares.map((share) => ({ ms: share * expectedMs, weight })), samples: 0 };
}

/** The time within which renders of this weight (a share, if it is 1 in all) have ended, in milliseconds. */
export function quantileOf({ points }: Pick<RenderTimes, 'points'>, share: number): number {
  let reached = 0;
  let before: { readonly ms: number; readonly middle: number } | undefined;
  for (const { ms, weight } of points) {
    const middle = reached + weight / 2;
    if (share <= middle) {
      if (before === undefined) return ms;
      return before.ms + ((ms - before.ms) * (share - before.middle)) / (middle - before.middle);
    }
    before = { ms, middle };
    reached += weight;
  }
  return before?.ms ?? 0;
}

/**
 * Between these two times nearly all renders end. Few samples do not contain the extremes, so that the window is wider
 * for them.
 */
export function renderWindow(times: RenderTimes) {
  const doubt = doubtOf(times);
  return {
    earliestMs: quantileOf(times, 0.05) * (1 - doubt),
    latestMs: quantileOf(times, 0.99) * (1 + 2 * doubt),
  };
}

/** By how much the samples may have missed the extremes, as a share of a time. A guess covers them already. */
export function doubtOf({ samples }: RenderTimes): number {
  return samples === 0 ? 0 : 1 / samples;
}

/**
 * Milliseconds that a render of this age still needs, by those that took longer. Undefined: hardly any did, so that
 * nothing is known.
 */
export function remainingTime(times: RenderTimes, elapsedMs: number, share: number): number | undefined {
  const longer = times.points.filter(({ ms }) => ms > elapsedMs);
  const total = longer.reduce((sum, { weight }) => sum + weight, 0);
  if (total < remainingShareMin) return undefined;
  return quantileOf({ points: longer }, share * total) - elapsedMs;
}

const remainingShareMin = 0.02;

/** Seconds until the end, for callers: half of such renders, and nine of ten, end within them. */
export interface Eta {
  readonly p50: number;
  readonly p90: number;
}

/** Undefined: nothing was learned, or hardly any render took as long as this one has by now. */
export function etaOf(times: RenderTimes | undefined, elapsedMs: number): Eta | undefined {
  if (times === undefined) return undefined;
  const [p50, p90] = [0.5, 0.9].map((share) => remainingTime(times, Math.max(elapsedMs, 0), share));
  if (p50 === undefined || p90 === undefined) return undefined;
  return { p50: Math.ceil(p50 / 1000), p90: Math.ceil(p90 / 1000) };
}

/** What of a request decides how long it renders, as one of a bounded number of words: `720p/5`. */
export function renderedOutput(request: GenerationRequest): string {
  if (request.kind === 'image') return `image/${Math.min(request.n, imagesMax)}`;
  return `${resolutionWord(request.resolution)}/${durationWord(request.duration)}`;
}

const imagesMax = 10;
const secondsMax = 60;
const secondsStep = 5;

function resolutionWord(resolution = 'any'): string {
  return /^[0-9]{1,4}[pk]$|^any$/i.test(resolution) ? resolution.toLowerCase() : 'other';
}

/** Whole seconds up to ten, then steps of five. */
function durationWord(duration: number | 'auto' | undefined): string {
  if (typeof duration !== 'number' || !(duration > 0)) return 'any';
  const step = duration <= 2 * secondsStep ? 1 : secondsStep;
  return String(Math.min(Math.ceil(duration / step) * step, secondsMax));
}
