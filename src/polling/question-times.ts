import { doubtOf } from '../models/render-times.ts';
import type { RenderTimes } from '../models/render-times.ts';

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
  const rest = stretchesAfter(elapsedMs, times);
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

/**
 * What is left of the time between each two samples; and of the time before the first and beyond the last, by as much as
 * so few samples leave open.
 */
function stretchesAfter(elapsedMs: number, times: RenderTimes): readonly Stretch[] {
  const { points } = times;
  const doubt = doubtOf(times);
  const before = { ms: (points[0]?.ms ?? 0) * (1 - doubt), weight: 0 };
  const beyond = { ms: (points.at(-1)?.ms ?? 0) * (1 + Math.max(doubt, overtimeMin)), weight: 0 };
  const edges = [before, ...points, beyond];
  return edges.slice(1).flatMap((to, index) => {
    const from = edges[index] ?? to;
    const fromMs = Math.max(from.ms, elapsedMs);
    const weight = (((from.weight + to.weight) / 2) * (to.ms - fromMs)) / (to.ms - from.ms);
    return to.ms > fromMs ? [{ fromMs, toMs: to.ms, weight }] : [];
  });
}

const overtimeMin = 0.02;
