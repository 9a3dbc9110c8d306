import { createPlaces, type Place, type Places } from '../base/places.ts';
import { timeLimit } from '../process/running-time.ts';

/**
 * Limits concurrent requests to origins that callers have chosen. An unresponsive origin cannot block the others, and
 * one account cannot block other accounts, even at the same origin.
 */
export interface HostPlaces {
  take(origin: string, account: string): Promise<HostPlace>;
  /**
   * Takes a place only if a request may be sent immediately. Returns undefined otherwise, and reserves nothing for
   * later.
   */
  takeFree(origin: string, account: string): GrantedPlace | undefined;
}

export interface GrantedPlace {
  readonly isGranted: true;
  readonly leave: () => void;
}

export type HostPlace = GrantedPlace | { readonly isGranted: false; readonly afterMs: number };

export interface HostPlacesOptions {
  /** A quarter of this is reserved for accounts without a request at the origin. */
  readonly requestsPerHostMax: number;
  readonly requestsPerAccountMax: number;
  readonly waitMs: number;
  readonly now: () => number;
  readonly random: () => number;
}

interface Usage {
  usedMs: number;
  /** When the most recently rejected caller should retry. The next one should retry later. */
  lastReturnAt: number;
}

interface Origin {
  readonly places: Places;
  readonly usage: Usage;
  users: number;
}

const reserveShare = 0.25;
const usedMsAtFirst = 1_000;
const newest = 0.2;
const returnMinMs = 1_000;
const returnMaxMs = 5 * 60_000;

export function createHostPlaces(options: HostPlacesOptions): HostPlaces {
  const { requestsPerHostMax, requestsPerAccountMax, waitMs, now } = options;
  const origins = new Map<string, Origin>();
  const usages = new Map<string, Usage>();
  const accounts = createPlaces({
    name: 'callbacks of an account',
    placesMax: Infinity,
    shareMax: requestsPerAccountMax,
  });
  return {
    async take(name, account) {
      const own = accounts.take(account);
      if (typeof own === 'string') return sendAway(usageOf(account), requestsPerAccountMax, options);
      const origin = enter(name);
      const free = origin.places.take(account);
      const place = typeof free === 'string' ? await origin.places.wait(account, timeLimit(waitMs)) : free;
      if (place !== undefined) return grant(name, account, { own, place });
      leave(name, account, own);
      return sendAway(origin.usage, requestsPerHostMax, options);
    },

    takeFree(name, account) {
      const own = accounts.take(account);
      if (typeof own === 'string') return undefined;
      const place = enter(name).places.take(account);
      if (typeof place !== 'string') return grant(name, account, { own, place });
      leave(name, account, own);
      return undefined;
    },
  };

  function enter(name: string): Origin {
    const origin = origins.get(name) ?? newOrigin(requestsPerHostMax);
    origins.set(name, origin);
    origin.users += 1;
    return origin;
  }

  function usageOf(account: string): Usage {
    const usage = usages.get(account) ?? newUsage();
    usages.set(account, usage);
    return usage;
  }

  function leave(name: string, account: string, own: Place): void {
    const origin = origins.get(name);
    if (origin !== undefined) origin.users -= 1;
    if (origin?.users === 0) origins.delete(name);
    own.leave();
    if (accounts.heldBy(account) === 0) usages.delete(account);
  }

  function grant(name: string, account: string, { own, place }: Granted): GrantedPlace {
    const since = now();
    const end = (): void => {
      for (const usage of [origins.get(name)?.usage, usages.get(account)]) learn(usage, now() - since);
      place.leave();
      leave(name, account, own);
    };
    return { isGranted: true, leave: end };
  }
}

function newOrigin(requestsMax: number): Origin {
  const reserve = Math.floor(requestsMax * reserveShare);
  const places = createPlaces({ name: 'callbacks to an origin', placesMax: requestsMax, reserve });
  return { places, usage: newUsage(), users: 0 };
}

function learn(usage: Usage | undefined, usedMs: number): void {
  if (usage !== undefined) usage.usedMs += newest * (usedMs - usage.usedMs);
}

interface Granted {
  readonly own: Place;
  readonly place: Place;
}

/** Spreads out the retries of rejected callers, so that they arrive at about the rate at which requests end. */
function sendAway(usage: Usage, places: number, { now, random }: HostPlacesOptions): HostPlace {
  const at = now();
  const wantedMs = Math.max(usage.lastReturnAt - at, returnMinMs) + usage.usedMs / places;
  const spread = 0.5 + 0.5 * random();
  const afterMs = wantedMs < returnMaxMs ? wantedMs : returnMaxMs * spread;
  if (wantedMs < returnMaxMs) usage.lastReturnAt = at + afterMs;
  return { isGranted: false, afterMs: Math.ceil(afterMs) };
}

function newUsage(): Usage {
  return { usedMs: usedMsAtFirst, lastReturnAt: 0 };
}
