/** When one credential's next request may be sent, and whether it may be a list. */
export type PollPace = ReturnType<typeof createPollPace>;

/** Between two requests that may list: fewer than two a second. */
const listPaceMs = 520;
/** An upstream that answered its list with an error is asked for it again after this time. */
const listRetryMs = 60_000;
const probeDelayMs = 1_000;
const probeDelayMaxMs = 5_000;

export function createPollPace(hasList: boolean, now: () => number) {
  let outage: { readonly delayMs: number; readonly nextProbeAt: number } | undefined;
  let nextListAt = 0;
  let listOffUntil = 0;
  const canList = (): boolean => hasList && now() >= listOffUntil;
  const probeAfter = (delayMs: number): void => void (outage = { delayMs, nextProbeAt: now() + delayMs });
  return {
    /** One request asks about all jobs, at the moment. */
    canList,
    isDown: () => outage !== undefined,

    /** Milliseconds until the next request. `hasLone`: a question that must not be in a list waits. */
    dueInMs(hasLone: boolean): number {
      if (outage !== undefined) return outage.nextProbeAt - now();
      return canList() && !hasLone ? nextListAt - now() : 0;
    },

    /** The next request begins now. Whether it may be a list. */
    begins(hasLone: boolean): boolean {
      if (outage !== undefined) probeAfter(Math.min(2 * outage.delayMs, probeDelayMaxMs));
      else if (canList() && !hasLone) {
        nextListAt = now() + listPaceMs;
        return true;
      }
      return false;
    },

    /** The upstream answered: that ends an outage. */
    answered: (): void => void (outage = undefined),

    /** The upstream answered a list with an error: jobs are asked about alone for a while. */
    listFailed: (): void => void (listOffUntil = now() + listRetryMs),

    /** It failed for everybody. */
    failed(): void {
      if (outage === undefined) probeAfter(probeDelayMs);
    },
  };
}
