const quarterMs = 15 * 60_000;
const fortyDaysMs = 40 * 86_400_000;

const clockSteps = [quarterMs, -quarterMs, fortyDaysMs, -fortyDaysMs] as const;

interface ClockMove<Clock> {
  readonly clock: Clock;
  readonly byMs: number;
}

/**
 * Returns every combination of clock and shift in rounds. A round moves each clock once, and adjacent clocks by
 * different shifts.
 */
export function clockMoves<Clock>(clocks: readonly Clock[]): readonly ClockMove<Clock>[] {
  return clockSteps.flatMap((_, round) =>
    clocks.map((clock, index) => ({ clock, byMs: clockSteps[(index + round) % clockSteps.length] ?? 0 })),
  );
}
