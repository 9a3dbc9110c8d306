import { createSightings } from '../domain/sightings.ts';
import type { Duties } from '../store/duties.ts';

/** Asked at each of a process's looks: whether it is this process that does the duty now. */
export type Duty = () => Promise<boolean>;

export interface DutyOptions {
  readonly name: string;
  readonly duties: Duties;
  /** Who has taken no turn for this long, by the clock of whoever watches, is gone. */
  readonly silenceMs: number;
  readonly now: () => number;
}

/** Who had the last turn has the next one; when he is silent, whoever notices goes on. No two clocks are compared. */
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
