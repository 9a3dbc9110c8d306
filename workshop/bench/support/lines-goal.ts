import { short } from './report.ts';
import type { Goal } from './report.ts';

/** The most that the two additional lines may cost, as a share of the API's CPU time for a create. */
const costMax = 0.02;

/**
 * Compares the CPU time that the API spends on a create with one price line and with three. The noise is the range of
 * the runs with one line.
 */
export function linesGoal(one: readonly number[], three: readonly number[], connections: number): Goal[] {
  const [before, after] = [median(one), median(three)];
  if (before === undefined || after === undefined) return [];
  const noise = Math.max(...one) - Math.min(...one);
  const shareOf = (ms: number) => `${((100 * ms) / before).toFixed(1)} %`;
  return [
    {
      what: `three price lines, CPU of the API for a create at ${connections} connection(s)`,
      goal: `at most ${costMax * 100} % more than one line`,
      measured: `${shareOf(after - before)} more: ${short(after)} ms instead of ${short(before)} ms; the runs with one line differ by ${shareOf(noise)}`,
      met: after - before <= costMax * before,
    },
  ];
}

function median(numbers: readonly number[]): number | undefined {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];
}
