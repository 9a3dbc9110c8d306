/** Places for requests to hosts that callers chose: one host that does not answer leaves room for all others. */
export interface HostPlaces {
  /** Waits for a place, but not for long: without one, the caller leaves and asks again later. */
  take(host: string): Promise<HostPlace>;
}

export type HostPlace =
  | { readonly isGranted: true; readonly leave: () => void }
  | { readonly isGranted: false; readonly afterMs: number };

export interface HostPlacesOptions {
  readonly requestsPerHostMax: number;
  /** How many may wait for a place at one host at the same time. */
  readonly waitingPerHostMax: number;
  readonly waitMs: number;
  readonly now: () => number;
  /** From 0 to 1. */
  readonly random: () => number;
}

interface Host {
  inUse: number;
  readonly waiting: Set<(isGranted: boolean) => void>;
  /** How long a place is used, the mean of the last few. */
  usedMs: number;
  /** For when the last of those who were sent away was asked to return. */
  lastReturnAt: number;
}

const usedMsAtFirst = 1_000;
/** Weight of the newest use in the mean. */
const newest = 0.2;
const returnMinMs = 1_000;
const returnMaxMs = 5 * 60_000;

export function createHostPlaces(options: HostPlacesOptions): HostPlaces {
  const hosts = new Map<string, Host>();
  return {
    async take(name) {
      const host = hosts.get(name) ?? newHost();
      hosts.set(name, host);
      if (host.inUse < options.requestsPerHostMax) {
        host.inUse += 1;
        return grant(name, host);
      }
      const isFull = host.waiting.size >= options.waitingPerHostMax;
      if (isFull || !(await turn(host))) return { isGranted: false, afterMs: returnInMs(host) };
      return grant(name, host);
    },
  };

  function grant(name: string, host: Host): HostPlace {
    const since = options.now();
    const leave = (): void => {
      host.usedMs += newest * (options.now() - since - host.usedMs);
      const [next] = host.waiting;
      if (next !== undefined) next(true);
      else host.inUse -= 1;
      if (host.inUse === 0) hosts.delete(name);
    };
    return { isGranted: true, leave };
  }

  /** Resolves with true when a place was handed over. */
  function turn(host: Host): Promise<boolean> {
    return new Promise((resolve) => {
      const settle = (isGranted: boolean): void => {
        clearTimeout(timer);
        host.waiting.delete(settle);
        resolve(isGranted);
      };
      const timer = setTimeout(() => settle(false), options.waitMs);
      host.waiting.add(settle);
    });
  }

  /** Those who are sent away return one after the other, about as fast as places become free. */
  function returnInMs(host: Host): number {
    const now = options.now();
    const spacingMs = host.usedMs / options.requestsPerHostMax;
    const wantedMs = Math.max(host.lastReturnAt - now, returnMinMs) + spacingMs;
    const spread = 0.5 + 0.5 * options.random();
    const afterMs = wantedMs < returnMaxMs ? wantedMs : returnMaxMs * spread;
    if (wantedMs < returnMaxMs) host.lastReturnAt = now + afterMs;
    return Math.ceil(afterMs);
  }
}

function newHost(): Host {
  return { inUse: 0, waiting: new Set(), usedMs: usedMsAtFirst, lastReturnAt: 0 };
}
