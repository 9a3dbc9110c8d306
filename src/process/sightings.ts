/**
 * Measures how long something has stayed unchanged, as seen by this process and its own clock. A process that looks for
 * abandoned work therefore never compares two clocks. Kept in memory, so a restart begins the measurement anew.
 */
export interface Sightings {
  /** Returns the milliseconds since this version was first seen, or 0 if it is new. */
  unchangedMs(id: string, version: number | string): number;
  /** Ends a round and forgets everything that was not seen in it. */
  forgetOthers(): void;
}

interface Sighting {
  readonly version: number | string;
  readonly since: number;
}

export function createSightings(now: () => number): Sightings {
  let before = new Map<string, Sighting>();
  let seen = new Map<string, Sighting>();
  return {
    unchangedMs(id, version) {
      const known = seen.get(id) ?? before.get(id);
      const sighting = known?.version === version ? known : { version, since: now() };
      seen.set(id, sighting);
      return now() - sighting.since;
    },
    forgetOthers() {
      before = seen;
      seen = new Map();
    },
  };
}
