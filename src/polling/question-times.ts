import { doubtOf, type RenderTimes } from '../models/render-times.ts';

/**
 * Decides when to ask about a job, so that its end is noticed early with a limited number of questions.
 *
 * If questions are `h(t)` apart and renders end at rate `f(t)`, the expected lag is the integral of `f · h / 2`, and
 * the number of questions is the integral of `1 / h`. For a given number of questions, the lag is smallest if `1 / h`
 * is proportional to the square root of `f`. A second matters more in a short render, so `f / t` replaces `f`, which
 * minimises the lag as a fraction of the render. Spacing the questions by equal probability would be worse: its lag is
 * the same as with equal intervals. Where few renders end, for example between two modes, few questions are asked.
 */

interface Stretch {
  readonly fromMs: number;
  readonly toMs: number;
  readonly weight: number;
}

export interface QuestionFacts {
  readonly elapsedMs: number;
  readonly left: number;
  /** In [-0.5, 0.5). Shifts the question, so that many jobs do not ask at the same moment. */
  readonly jitter: number;
}

const jitterShare = 0.2;

/**
 * Returns milliseconds since the upstream accepted the job, or undefined if all such renders should have finished by
 * now.
 */
export function nextQuestionMs(
  times: RenderTimes,
  { elapsedMs, left, jitter }: QuestionFacts,
): number | undefined {
  const rest = stretchesAfter(elapsedMs, times);
  const whole = rest.reduce((sum, stretch) => sum + needOf(stretch), 0);
  if (whole <= 0) return undefined;
  // The last question lies at the end of the range, so it cannot be shifted.
  let need = (whole / left) * (left === 1 ? 1 : 1 + jitterShare * jitter);
  for (const stretch of rest) {
    const here = needOf(stretch);
    if (need <= here) return stretch.fromMs + (stretch.toMs - stretch.fromMs) * (need / here);
    need -= here;
  }
  return rest.at(-1)?.toMs;
}

function needOf({ fromMs, toMs, weight }: Stretch): number {
  return Math.sqrt((weight * (toMs - fromMs)) / ((fromMs + toMs) / 2));
}

/**
 * Splits the remaining time at the samples. The intervals before the first sample and after the last are longer if
 * there are few samples.
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
