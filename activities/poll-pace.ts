/** When one credential's next request may be sent, and what it asks for. */

/** `one`: a single question; `lone`: one that must not be in a list; `many`: a list. */
export type Turn = 'one' | 'lone' | 'many';

export interface PollPace {
  /** One request asks about all jobs, at the moment. */
  canList(): boolean;
  isDown(): boolean;
  /** Milliseconds until the next request. */
  dueInMs(hasLone: boolean): number;
  /** What the next request asks for, which begins now. */
  take(hasLone: boolean): Turn;
  /** The upstream answered. True: that ends an outage. */
  answered(isList: boolean): boolean;
  /** The upstream answered with something other than a list. */
  listRefused(): void;
  /** It failed for everybody. `isListError`: the upstream answered, with an error, to a list. */
  failed(isListError: boolean): void;
}

/** Between two requests that may list: fewer than two a second. */
const listPaceMs = 520;
/** An upstream that refuses its list is asked for it again after this time. */
const listRetryMs = 60_000;
const probeDelayMs = 1_000;
const probeDelayMaxMs = 5_000;

export function createPollPace(hasList: boolean, now: () => number): PollPace {
  let outage: { readonly probes: number; readonly nextProbeAt: number } | undefined;
  let nextListAt = 0;
  let listOffUntil = 0;
  let listFailed = false;
  const canList = (): boolean => hasList && now() >= listOffUntil;
  const switchListOff = (): void => void (listOffUntil = now() + listRetryMs);
  return {
    canList,
    isDown: () => outage !== undefined,

    dueInMs(hasLone) {
      if (outage !== undefined) return outage.nextProbeAt - now();
      return canList() && !hasLone ? nextListAt - now() : 0;
    },

    take(hasLone) {
      if (outage !== undefined) {
        const probes = outage.probes + 1;
        const delayMs = Math.min(probeDelayMs * 2 ** probes, probeDelayMaxMs);
        outage = { probes, nextProbeAt: now() + delayMs };
        return 'one';
      }
      if (!canList()) return 'one';
      if (hasLone) return 'lone';
      nextListAt = now() + listPaceMs;
      return 'many';
    },

    answered(isList) {
      if (isList) listFailed = false;
      if (outage === undefined) return false;
      outage = undefined;
      // The upstream answers about a job, but not with a list: everybody is asked about alone.
      if (listFailed) switchListOff();
      listFailed = false;
      return true;
    },

    listRefused: switchListOff,

    failed(isListError) {
      listFailed ||= isListError;
      outage ??= { probes: 0, nextProbeAt: now() + probeDelayMs };
    },
  };
}
