/** When one credential's next request may be sent, and what it asks for. */

/** `one`: a single question; `lone`: one that must not be in a list; `many`: a list; `ended`: what has ended of all. */
export type Turn = 'one' | 'lone' | 'many' | 'ended';

/** What could be asked next. */
export interface Askable {
  readonly hasLone: boolean;
  /** More wait than fit into one list, and another page of what has ended can be asked for. */
  readonly hasCrowd: boolean;
}

export interface PollPace {
  /** One request asks about all jobs, at the moment. */
  canList(): boolean;
  isDown(): boolean;
  /** Milliseconds until the next request. */
  dueInMs(hasLone: boolean): number;
  /** What the next request asks for, which begins now. */
  take(askable: Askable): Turn;
  /** The upstream answered. True: that ends an outage. */
  answered(isList: boolean): boolean;
  /** The upstream answered with something other than a list. */
  listRefused(): void;
  /** It did not say what has ended. */
  endedRefused(): void;
  /** It failed for everybody. `isListError`: the upstream answered, with an error, to a list. */
  failed(isListError: boolean): void;
}

/** Between two requests that may list: fewer than two a second. */
const listPaceMs = 520;
/** An upstream that refuses its list is asked for it again after this time. */
const listRetryMs = 60_000;
/** Of a crowd, every fourth request asks about some of them: whoever still renders is heard of, too. */
const crowdCycle = 4;
const probeDelayMs = 1_000;
const probeDelayMaxMs = 5_000;

export function createPollPace(hasList: boolean, now: () => number): PollPace {
  let outage: { readonly probes: number; readonly nextProbeAt: number } | undefined;
  let nextListAt = 0;
  let listOffUntil = 0;
  let endedOffUntil = 0;
  let crowdTurns = 0;
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

    take({ hasLone, hasCrowd }) {
      if (outage !== undefined) {
        const probes = outage.probes + 1;
        const delayMs = Math.min(probeDelayMs * 2 ** probes, probeDelayMaxMs);
        outage = { probes, nextProbeAt: now() + delayMs };
        return 'one';
      }
      if (!canList()) return 'one';
      if (hasLone) return 'lone';
      nextListAt = now() + listPaceMs;
      if (!hasCrowd || now() < endedOffUntil) return 'many';
      crowdTurns += 1;
      return crowdTurns % crowdCycle === 0 ? 'many' : 'ended';
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
    endedRefused: () => void (endedOffUntil = now() + listRetryMs),

    failed(isListError) {
      listFailed ||= isListError;
      outage ??= { probes: 0, nextProbeAt: now() + probeDelayMs };
    },
  };
}
