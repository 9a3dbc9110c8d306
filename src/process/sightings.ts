/**
 * Measures by this process's own clock how long something has stayed unchanged, so that two clocks are never compared.
 * Kept in memory, so a restart starts from zero.
 */
export interface Sightings {
  unchangedMs(id: string, version: number | string): number;
  /** Ends a round, and forgets every id that was not passed to `unchangedMs` during it. */
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
