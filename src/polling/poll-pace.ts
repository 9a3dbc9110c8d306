export type PollPace = ReturnType<typeof createPollPace>;

/** Keeps list requests below two per second. */
const listPaceMs = 520;
/** After a failed list request, jobs are polled individually for this long. */
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
    canList,
    isDown: () => outage !== undefined,

    /** @param hasLone - Whether a question is waiting that must not be part of a list. */
    dueInMs(hasLone: boolean): number {
      if (outage !== undefined) return outage.nextProbeAt - now();
      return canList() && !hasLone ? nextListAt - now() : 0;
    },

    /** Call this when a request starts. Returns whether it may be a list. */
    begins(hasLone: boolean): boolean {
      if (outage !== undefined) probeAfter(Math.min(2 * outage.delayMs, probeDelayMaxMs));
      else if (canList() && !hasLone) {
        nextListAt = now() + listPaceMs;
        return true;
      }
      return false;
    },

    answered: (): void => void (outage = undefined),

    listFailed: (): void => void (listOffUntil = now() + listRetryMs),

    failed(): void {
      if (outage === undefined) probeAfter(probeDelayMs);
    },
  };
}
