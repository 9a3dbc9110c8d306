/**
 * Places for requests to hosts that callers chose: one host that does not answer leaves room for all others, and so
 * does one account with any number of them.
 */
export interface HostPlaces {
  /** Waits for a place, but not for long: without one, the caller leaves and asks again later. */
  take(host: string, account: string): Promise<HostPlace>;
  /** A place that is free at this moment, or none: nobody waits, or returns, for it. */
  takeFree(host: string, account: string): GrantedPlace | undefined;
}

export interface GrantedPlace {
  readonly isGranted: true;
  readonly leave: () => void;
}

export type HostPlace = GrantedPlace | { readonly isGranted: false; readonly afterMs: number };

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

interface HeldAccount {
  readonly usage: Usage;
  readonly leave: () => void;
}

const usedMsAtFirst = 1_000;
/** Weight of the newest use in the mean. */
const newest = 0.2;
const returnMinMs = 1_000;
const returnMaxMs = 5 * 60_000;

export function createHostPlaces(options: HostPlacesOptions): HostPlaces {
  const { requestsPerHostMax, requestsPerAccountMax, waitingPerHostMax, waitMs, now } = options;
  const hosts = new Map<string, Host>();
  const accounts = createAccountPlaces(requestsPerAccountMax, now);
  return {
    async take(name, accountName) {
      const account = accounts.enter(accountName);
      if (account === undefined)
        return sendAway(accounts.usageOf(accountName), requestsPerAccountMax, options);
      const place = await takeAtHost(name);
      if (place.isGranted) return accounts.share(place, account);
      account.leave();
      return place;
    },

    takeFree(name, accountName) {
      const account = accounts.enter(accountName);
      if (account === undefined) return undefined;
      const place = takeFreeAtHost(name);
      if (place !== undefined) return accounts.share(place, account);
      account.leave();
      return undefined;
    },
  };

  function hostOf(name: string): Host {
    const host = hosts.get(name) ?? { ...newUsage(), waiting: new Set() };
    hosts.set(name, host);
    return host;
  }

  function takeFreeAtHost(name: string): GrantedPlace | undefined {
    const host = hostOf(name);
    if (host.inUse >= requestsPerHostMax) return undefined;
    host.inUse += 1;
    return grant(name, host);
  }

  async function takeAtHost(name: string): Promise<HostPlace> {
    const place = takeFreeAtHost(name);
    if (place !== undefined) return place;
    const host = hostOf(name);
    const isFull = host.waiting.size >= waitingPerHostMax;
    if (isFull || !(await turn(host, waitMs))) return sendAway(host, requestsPerHostMax, options);
    return grant(name, host);
  }

  function grant(name: string, host: Host): GrantedPlace {
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

function createAccountPlaces(requestsMax: number, now: () => number) {
  const accounts = new Map<string, Usage>();
  function usageOf(account: string): Usage {
    return accounts.get(account) ?? newUsage();
  }

  function enter(name: string): HeldAccount | undefined {
    const usage = usageOf(name);
    if (usage.inUse >= requestsMax) return undefined;
    accounts.set(name, usage);
    usage.inUse += 1;
    const leave = (): void => {
      usage.inUse -= 1;
      if (usage.inUse === 0) accounts.delete(name);
    };
    return { usage, leave };
  }

  /** A place at the host is one of the account, too. */
  function share(place: GrantedPlace, account: HeldAccount): GrantedPlace {
    const since = now();
    const leave = (): void => {
      learn(account.usage, now() - since);
      account.leave();
      place.leave();
    };
    return { isGranted: true, leave };
  }

  return { usageOf, enter, share };
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
