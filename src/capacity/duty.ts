import { createSightings } from '../process/sightings.ts';
import type { Duties } from '../store/duties.ts';

export type Duty = () => Promise<boolean>;

export interface DutyOptions {
  readonly name: string;
  readonly duties: Duties;
  readonly silenceMs: number;
  readonly now: () => number;
}

/**
 * Elects one process for a duty. It keeps the duty until it stops reporting, and then another process takes over. Each
 * process measures the silence by its own clock, so clocks of different machines are never compared.
 */
export function createDuty({ name, duties, silenceMs, now }: DutyOptions): Duty {
  const sightings = createSightings(now);
  let ours: number | undefined;
  const takeAfter = async (seen: number): Promise<boolean> => {
    const isTaken = await duties.takeTurn(name, seen);
    ours = isTaken ? seen + 1 : undefined;
    return isTaken;
  };
  return async () => {
    if (ours !== undefined && (await takeAfter(ours))) return true;
    const seen = await duties.turn(name);
    const silentMs = sightings.unchangedMs(name, seen);
    return (seen === 0 || silentMs >= silenceMs) && takeAfter(seen);
  };
}
