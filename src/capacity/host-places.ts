/**
 * Places for requests to hosts that callers chose: one host that does not answer leaves room for all others, and so
 * does one account with any number of them.
 */
export interface HostPlaces {
  /** Waits for a place, but not for long: without one, the caller leaves and asks again later. */
  take(host: string, account: string): Promise<HostPlace>;
}

export type HostPlace =
  | { readonly isGranted: true; readonly leave: () => void }
  | { readonly isGranted: false; readonly afterMs: number };

export interface HostPlacesOptions {
  readonly requestsPerHostMax: number;
  /** Of one account to all hosts together, those that wait included. */
  readonly requestsPerAccountMax: number;
  /** How many may wait for a place at one host at the same time. */
  readonly waitingPerHostMax: number;
  readonly waitMs: number;
  readonly now: () => number;
  /** From 0 to 1. */
  readonly random: () => number;
}

interface Usage {
  inUse: number;
  /** How long a place is used, the mean of the last few. */
  usedMs: number;
  /** When the last of those who were sent away was asked to return. */
  lastReturnAt: number;
}

interface Host extends Usage {
  readonly waiting: Set<(isGranted: boolean) => void>;
}

const usedMsAtFirst = 1_000;
/** Weight of the newest use in the mean. */
const newest = 0.2;
const returnMinMs = 1_000;
const returnMaxMs = 5 * 60_000;

export function createHostPlaces(options: HostPlacesOptions): HostPlaces {
  const { requestsPerHostMax, requestsPerAccountMax, waitingPerHostMax, waitMs, now } = options;
  const hosts = new Map<string, Host>();
  const accounts = new Map<string, Usage>();
  return {
    async take(name, accountName) {
      const account = accounts.get(accountName) ?? newUsage();
      if (account.inUse >= requestsPerAccountMax) return sendAway(account, requestsPerAccountMax, options);
      accounts.set(accountName, account);
      account.inUse += 1;
      const leaveAccount = (): void => {
        account.inUse -= 1;
        if (account.inUse === 0) accounts.delete(accountName);
      };
      const place = await takeAtHost(name);
      if (!place.isGranted) {
        leaveAccount();
        return place;
      }
      const since = now();
      const leave = (): void => {
        learn(account, now() - since);
        leaveAccount();
        place.leave();
      };
      return { isGranted: true, leave };
    },
  };

  async function takeAtHost(name: string): Promise<HostPlace> {
    const host = hosts.get(name) ?? { ...newUsage(), waiting: new Set() };
    hosts.set(name, host);
    if (host.inUse < requestsPerHostMax) {
      host.inUse += 1;
      return grant(name, host);
    }
    const isFull = host.waiting.size >= waitingPerHostMax;
    if (isFull || !(await turn(host, waitMs))) return sendAway(host, requestsPerHostMax, options);
    return grant(name, host);
  }

  function grant(name: string, host: Host): HostPlace {
    const since = now();
    const leave = (): void => {
      learn(host, now() - since);
      const [next] = host.waiting;
      if (next !== undefined) next(true);
      else host.inUse -= 1;
      if (host.inUse === 0) hosts.delete(name);
    };
    return { isGranted: true, leave };
  }
}

function learn(usage: Usage, usedMs: number): void {
  usage.usedMs += newest * (usedMs - usage.usedMs);
}

/** Resolves with true when a place was handed over. */
function turn(host: Host, waitMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const settle = (isGranted: boolean): void => {
      clearTimeout(timer);
      host.waiting.delete(settle);
      resolve(isGranted);
    };
    const timer = setTimeout(() => settle(false), waitMs);
    host.waiting.add(settle);
  });
}

/** Those who are sent away return one after the other, about as fast as places become free. */
function sendAway(usage: Usage, places: number, { now, random }: HostPlacesOptions): HostPlace {
  const at = now();
  const wantedMs = Math.max(usage.lastReturnAt - at, returnMinMs) + usage.usedMs / places;
  const spread = 0.5 + 0.5 * random();
  const afterMs = wantedMs < returnMaxMs ? wantedMs : returnMaxMs * spread;
  if (wantedMs < returnMaxMs) usage.lastReturnAt = at + afterMs;
  return { isGranted: false, afterMs: Math.ceil(afterMs) };
}

function newUsage(): Usage {
  return { inUse: 0, usedMs: usedMsAtFirst, lastReturnAt: 0 };
}
