import { createPlaces } from '../base/places.ts';
import type { HostPlaces } from './host-places.ts';

/**
 * Selects hosts that may be called while other work waits for the response: those that responded promptly last time. An
 * unknown host gets one call at a time. A slow host is avoided for a while. Each process keeps its own record.
 */
export interface PromptHosts {
  /** Never waits. Returns undefined if the host may not be called now. */
  enter(host: string, account: string): PromptCall | undefined;
  idle(): Promise<void>;
}

export interface PromptCall {
  /** Must be called exactly once, when the host has responded or the caller has stopped waiting. */
  leave(wasPrompt: boolean): void;
}

export interface PromptHostsOptions {
  readonly places: Pick<HostPlaces, 'takeFree'>;
  readonly callsMax: number;
  readonly avoidMs: number;
  readonly now: () => number;
}

interface Host {
  calls: number;
  isProven: boolean;
  avoidUntil: number;
}

const accountShare = 0.75;
const hostsMax = 10_000;

export function createPromptHosts({ places, callsMax, avoidMs, now }: PromptHostsOptions): PromptHosts {
  const hosts = new Map<string, Host>();
  const waiting: (() => void)[] = [];
  const shareMax = Math.ceil(callsMax * accountShare);
  const calls = createPlaces({ name: 'first callbacks', placesMax: callsMax, shareMax });
  return {
    idle: () => (calls.held === 0 ? Promise.resolve() : new Promise((resolve) => void waiting.push(resolve))),

    enter(name, account) {
      const host = hosts.get(name) ?? { calls: 0, isProven: false, avoidUntil: 0 };
      const isUnproven = !host.isProven && host.calls > 0;
      if (isUnproven || now() < host.avoidUntil) return undefined;
      const call = calls.take(account);
      if (typeof call === 'string') return undefined;
      const place = places.takeFree(name, account);
      if (place === undefined) {
        call.leave();
        return undefined;
      }
      remember(name, host);
      host.calls += 1;
      return {
        leave(wasPrompt) {
          place.leave();
          call.leave();
          ended(host, wasPrompt);
        },
      };
    },
  };

  function ended(host: Host, wasPrompt: boolean): void {
    host.calls -= 1;
    host.isProven = wasPrompt;
    if (!wasPrompt) host.avoidUntil = now() + avoidMs;
    if (calls.held === 0) for (const resolve of waiting.splice(0)) resolve();
  }

  function remember(name: string, host: Host): void {
    hosts.delete(name);
    hosts.set(name, host);
    const [oldest] = hosts.keys();
    if (hosts.size > hostsMax && oldest !== undefined) hosts.delete(oldest);
  }
}
