export type PollPace = ReturnType<typeof createPollPace>;

/** Keeps list requests below two per second. */
const listPaceMs = 520;
/** After a failed list request, jobs are polled individually for this long. */
const listRetryMs = 60_000;
const probeDelayMs = 1_000;
const probeDelayMaxMs = 5_000;

export function createPollPace(hasList: () => boolean, monotonic: () => number) {
  let outage: { readonly delayMs: number; readonly nextProbeAt: number } | undefined;
  let nextListAt = 0;
  let listOffUntil = 0;
  const canList = (): boolean => hasList() && monotonic() >= listOffUntil;
  const probeAfter = (delayMs: number): void =>
    void (outage = { delayMs, nextProbeAt: monotonic() + delayMs });
  return {
    canList,
    isDown: () => outage !== undefined,

    /** @param hasLone - Whether a question is waiting that must not be part of a list. */
    dueInMs(hasLone: boolean): number {
      if (outage !== undefined) return outage.nextProbeAt - monotonic();
      return canList() && !hasLone ? nextListAt - monotonic() : 0;
    },

    /** Call this when a request starts. Returns true if the request may be a list request. */
    begins(hasLone: boolean): boolean {
      if (outage !== undefined) probeAfter(Math.min(2 * outage.delayMs, probeDelayMaxMs));
      else if (canList() && !hasLone) {
        nextListAt = monotonic() + listPaceMs;
        return true;
      }
      return false;
    },

    answered: (): void => void (outage = undefined),

    listFailed: (): void => void (listOffUntil = monotonic() + listRetryMs),

    failed(): void {
      if (outage === undefined) probeAfter(probeDelayMs);
    },
  };
}
