import type { RenderTimes } from './render-times.ts';

/**
 * When to ask about one job with a budget of questions, so that its end is known as early as the budget allows. Pure.
 *
 * With questions `h(t)` apart and renders that end at the rate `f(t)`, the expected lag is the integral of `f · h / 2`, and
 * the questions are the integral of `1 / h`. For a given number of questions the lag is least where `1 / h` is in
 * proportion to the square root of `f`. As a second counts for more in a short render, `f / t` stands for `f` here: what
 * is least is the lag as a share of the render. Not equal probability between two questions: its lag is that of
 * equal times; and where hardly anything ends, as between two modes, hardly anything is asked.
 */

/** A stretch of time, in milliseconds, with the share of renders that end in it. */
interface Stretch {
  readonly fromMs: number;
  readonly toMs: number;
  readonly weight: number;
}

export interface QuestionFacts {
  /** Since the upstream accepted the job. */
  readonly elapsedMs: number;
  /** Questions that may still be asked until such renders have ended; at least 1. */
  readonly left: number;
  /** In [-0.5, 0.5): moves the question within its share, so that many jobs do not ask at one time. */
  readonly jitter: number;
}

/** Of a question's share of the time: a part of it is jitter. */
const jitterShare = 0.2;

/** Milliseconds from the acceptance; undefined: all such renders had ended by now. */
export function nextQuestionMs(
  times: RenderTimes,
  { elapsedMs, left, jitter }: QuestionFacts,
): number | undefined {
  const rest = stretchesOf(times)
    .filter(({ toMs }) => toMs > elapsedMs)
    .map((stretch) => after(stretch, elapsedMs));
  const whole = rest.reduce((sum, stretch) => sum + needOf(stretch), 0);
  if (whole <= 0) return undefined;
  // The last question is at the end of the range: nothing is left to move it by.
  let need = (whole / left) * (left === 1 ? 1 : 1 + jitterShare * jitter);
  for (const stretch of rest) {
    const here = needOf(stretch);
    if (need <= here) return stretch.fromMs + (stretch.toMs - stretch.fromMs) * (need / here);
    need -= here;
  }
  return rest.at(-1)?.toMs;
}

/** How many questions a stretch is worth, beside others. */
function needOf({ fromMs, toMs, weight }: Stretch): number {
  return Math.sqrt((weight * (toMs - fromMs)) / ((fromMs + toMs) / 2));
}

function after(stretch: Stretch, elapsedMs: number): Stretch {
  const { fromMs, toMs, weight } = stretch;
  if (fromMs >= elapsedMs) return stretch;
  return { fromMs: elapsedMs, toMs, weight: (weight * (toMs - elapsedMs)) / (toMs - fromMs) };
}

/** Between each two samples; and before the first and beyond the last, by as much as so few samples leave open. */
function stretchesOf({ points, samples }: RenderTimes): readonly Stretch[] {
  const doubt = samples === 0 ? 0 : 1 / samples;
  const stretches: Stretch[] = [];
  let before: { readonly ms: number; readonly weight: number } | undefined;
  for (const { ms, weight } of points) {
    const fromMs = before?.ms ?? ms * (1 - doubt);
    const half = ((before?.weight ?? 0) + weight) / 2;
    if (ms > fromMs) stretches.push({ fromMs, toMs: ms, weight: half });
    before = { ms, weight };
  }
  if (before === undefined) return stretches;
  const { ms, weight } = before;
  return [...stretches, { fromMs: ms, toMs: ms * (1 + Math.max(doubt, overtimeMin)), weight: weight / 2 }];
}

const overtimeMin = 0.02;
