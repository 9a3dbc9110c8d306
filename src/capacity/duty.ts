import { createSightings } from '../process/sightings.ts';
import type { Duties } from '../store/duties.ts';

/** Called once per round. Resolves with whether this process now holds the duty. */
export type Duty = () => Promise<boolean>;

export interface DutyOptions {
  readonly name: string;
  readonly duties: Duties;
  /** The time without a turn, by the observer's clock, after which a process is presumed dead. */
  readonly silenceMs: number;
  readonly now: () => number;
}

/**
 * Elects one process for a duty. The process that had the last turn keeps the duty until it stops reporting. Then
 * another process takes over. A single clock measures the time since the last report, so different machines' clocks are
 * never compared.
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
    // The process that has the duty keeps it with one command.
    if (ours !== undefined && (await takeAfter(ours))) return true;
    const seen = await duties.turn(name);
    const silentMs = sightings.unchangedMs(name, seen);
    return (seen === 0 || silentMs >= silenceMs) && takeAfter(seen);
  };
}
