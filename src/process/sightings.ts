/**
 * How long something has stood unchanged before our eyes, by our own clock: who looks for what another process has
 * abandoned compares no two clocks. In memory: a process that restarts begins to look anew.
 */
export interface Sightings {
  /** Milliseconds since this version was first seen; 0 when it is seen for the first time. */
  unchangedMs(id: string, version: number | string): number;
  /** Ends a round: what was not seen in it is forgotten. */
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
