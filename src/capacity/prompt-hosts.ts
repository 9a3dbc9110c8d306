import type { GrantedPlace, HostPlaces } from './host-places.ts';

/**
 * Which hosts are called while others wait for the caller: those that answered at once when they were last called. A
 * host that nobody knows is tried by one at a time; one that was slow, or did not accept, is left out for a while. Of
 * this process.
 */
export interface PromptHosts {
  /** Never waits. Undefined: not now. */
  enter(host: string, account: string): PromptCall | undefined;
  /** Resolves once no call is in flight: nobody else waits for those whose answer was slow. */
  idle(): Promise<void>;
}

export interface PromptCall {
  /** Once, when the host has answered, or nobody waits for it any more. */
  leave(wasPrompt: boolean): void;
}

export interface PromptHostsOptions {
  readonly places: Pick<HostPlaces, 'takeFree'>;
  /** Over all hosts: each may hold what others need while it lasts. */
  readonly callsMax: number;
  /** How long a host is left out. */
  readonly avoidMs: number;
  readonly now: () => number;
}

interface Host {
  calls: number;
  isProven: boolean;
  avoidUntil: number;
}

/** The host that was called longest ago is forgotten first. */
const hostsMax = 10_000;

export function createPromptHosts({ places, callsMax, avoidMs, now }: PromptHostsOptions): PromptHosts {
  const hosts = new Map<string, Host>();
  const waiting: (() => void)[] = [];
  let calls = 0;
  return {
    idle: () => (calls === 0 ? Promise.resolve() : new Promise((resolve) => void waiting.push(resolve))),

    enter(name, account) {
      const host = hosts.get(name) ?? { calls: 0, isProven: false, avoidUntil: 0 };
      const isFull = calls >= callsMax || (!host.isProven && host.calls > 0);
      if (isFull || now() < host.avoidUntil) return undefined;
      const place = places.takeFree(name, account);
      if (place === undefined) return undefined;
      remember(name, host);
      calls += 1;
      host.calls += 1;
      return { leave: (wasPrompt) => leave(host, place, wasPrompt) };
    },
  };

  function leave(host: Host, place: GrantedPlace, wasPrompt: boolean): void {
    place.leave();
    calls -= 1;
    host.calls -= 1;
    host.isProven = wasPrompt;
    if (!wasPrompt) host.avoidUntil = now() + avoidMs;
    if (calls === 0) for (const resolve of waiting.splice(0)) resolve();
  }

  function remember(name: string, host: Host): void {
    hosts.delete(name);
    hosts.set(name, host);
    const [oldest] = hosts.keys();
    if (hosts.size > hostsMax && oldest !== undefined) hosts.delete(oldest);
  }
}
