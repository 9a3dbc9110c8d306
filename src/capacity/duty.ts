import { createSightings } from '../process/sightings.ts';
import type { Duties } from '../store/duties.ts';

/** Asked at each of a process's looks: whether it is this process that does the duty now. */
export type Duty = () => Promise<boolean>;

export interface DutyOptions {
  readonly name: string;
  readonly duties: Duties;
  /** A process that has had no turn for this long, by the clock of the one that watches, is gone. */
  readonly silenceMs: number;
  readonly now: () => number;
}

/** The process that had the last turn has the next one; when it is silent, another takes over. No two clocks are compared. */
export function createDuty({ name, duties, silenceMs, now }: DutyOptions): Duty {
  const sightings = createSightings(now);
  let ours: number | undefined;
  return async () => {
    const seen = await duties.turn(name);
    const silentMs = sightings.unchangedMs(name, seen);
    if (seen !== 0 && seen !== ours && silentMs < silenceMs) return false;
    const isTaken = await duties.takeTurn(name, seen);
    ours = isTaken ? seen + 1 : undefined;
    return isTaken;
  };
}
