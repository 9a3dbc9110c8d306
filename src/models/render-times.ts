import type { GenerationRequest } from './request.ts';

/** Renders with the same properties share a distribution of times. `output` comes from `renderedOutput`. */
export interface RenderKind {
  readonly channel: string;
  readonly model: string;
  readonly output: string;
}

export interface RenderSample {
  /** From the upstream's acceptance of the job to the end of the render. */
  readonly ms: number;
  readonly at: number;
}

export interface RenderTimes {
  readonly points: readonly { readonly ms: number; readonly weight: number }[];
  readonly samples: number;
}

export const renderSamplesMax = 48;
/** With fewer samples, the spread is unknown. */
const samplesMin = 5;
const halfLifeMs = 3 * 24 * 3_600_000;
const renderMsMax = 7 * 24 * 3_600_000;

/**
 * Returns undefined if there are too few usable samples. A sample from the future, caused by clock skew, is treated as
 * new.
 */
export function learnedTimes(samples: readonly RenderSample[], now: number): RenderTimes | undefined {
  const usable = samples.filter(isUsable);
  if (usable.length < samplesMin) return undefined;
  const newest = Math.min(now, Math.max(...usable.map(({ at }) => at)));
  // Ages are relative to the newest sample. Otherwise, the samples of a model that was idle for a month would lose
  // their weight.
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

/** Multiples of the configured render time. They are spread widely because the configured time is a guess. */
const guessedShares = [0.45, 0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.25, 1.4, 1.6, 2];

export function guessedTimes(expectedMs: number): RenderTimes {
  const weight = 1 / guessedShares.length;
  return { points: guessedShares.map((share) => ({ ms: share * expectedMs, weight })), samples: 0 };
}

/**
 * Returns the time in milliseconds by which renders with a total weight of `share` have finished. If all weights add up
 * to 1, `share` is a proportion of the renders.
 */
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
 * Nearly all renders finish between these two times. With few samples, the window is wider, because the samples may not
 * include the extremes.
 */
export function renderWindow(times: RenderTimes) {
  const doubt = doubtOf(times);
  return {
    earliestMs: quantileOf(times, 0.05) * (1 - doubt),
    latestMs: quantileOf(times, 0.99) * (1 + 2 * doubt),
  };
}

/** A window is widened by this fraction, in case the samples missed the extremes. A guess is already wide enough. */
export function doubtOf({ samples }: RenderTimes): number {
  return samples === 0 ? 0 : 1 / samples;
}

/**
 * Estimates how many more milliseconds a render of this age needs, based on the renders that took longer. Returns
 * undefined if hardly any did.
 */
export function remainingTime(times: RenderTimes, elapsedMs: number, share: number): number | undefined {
  const longer = times.points.filter(({ ms }) => ms > elapsedMs);
  const total = longer.reduce((sum, { weight }) => sum + weight, 0);
  if (total < remainingShareMin) return undefined;
  return quantileOf({ points: longer }, share * total) - elapsedMs;
}

const remainingShareMin = 0.02;

export interface Eta {
  readonly p50: number;
  readonly p90: number;
}

export function etaOf(times: RenderTimes | undefined, elapsedMs: number): Eta | undefined {
  if (times === undefined) return undefined;
  const [p50, p90] = [0.5, 0.9].map((share) => remainingTime(times, Math.max(elapsedMs, 0), share));
  if (p50 === undefined || p90 === undefined) return undefined;
  return { p50: Math.ceil(p50 / 1000), p90: Math.ceil(p90 / 1000) };
}

/**
 * Returns the part of the request that determines the render time, such as `720p/5`. Only a limited number of values is
 * possible.
 */
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

/** Rounds up to whole seconds, or to multiples of five above ten seconds. */
function durationWord(duration: number | 'auto' | undefined): string {
  if (typeof duration !== 'number' || !(duration > 0)) return 'any';
  const step = duration <= 2 * secondsStep ? 1 : secondsStep;
  return String(Math.min(Math.ceil(duration / step) * step, secondsMax));
}
