import { createTurns } from '../../base/turns.ts';
import { unlimited, walk, type IsOver, type StepTime, type Walked } from '../../base/walk.ts';
import { createSightings } from '../../process/sightings.ts';
import type { Logger } from '../../observability/log.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { ImageLease, ImageLeaseStore } from '../../store/image-leases.ts';
import { createCloseHold } from './close-hold.ts';
import { leaseMs } from './process-lease.ts';

export interface DeadLeaseDeps {
  readonly leases: Pick<ImageLeaseStore, 'each' | 'declareDead' | 'remove' | 'owedFor' | 'paid'>;
  readonly ledger: Pick<Ledger, 'settle' | 'release' | 'blockHold' | 'entriesOfTask' | 'openHoldsBetween'>;
  readonly log: Logger;
  readonly now: () => number;
  readonly pause: (ms: number) => Promise<unknown>;
}

/**
 * A lease that has not changed for this long by our clock has also expired by its owner's clock. Any renewal in flight
 * has arrived by then.
 */
const deadAfterMs = leaseMs + 30_000;
/**
 * A lease must stay unchanged for this much longer while all reads succeed in time, because MongoDB may have been
 * unavailable before. Once MongoDB is back, the owner renews the lease within 15 s, possibly after writing a pending
 * bill.
 */
const watchedMs = 45_000;
const readEveryMs = 5_000;
/** If two reads are further apart, MongoDB may have been unavailable in between. */
const gapMsMax = 2 * readEveryMs;
const holdsAtOnce = 500;

/**
 * The returned step settles the hold of a dead process if the images were delivered, and releases it otherwise. It
 * resolves to the number of holds.
 */
export function createReleaseDeadLeases(deps: DeadLeaseDeps) {
  const { leases, ledger, log } = deps;
  const { findDead, isGap } = createDeathWatch(deps);
  const closeHold = createCloseHold(deps);
  const turns = createTurns(({ id }: ImageLease) => id);

  async function closeHolds(
    { id, from, process }: ImageLease,
    onClosed: () => void,
    isOver: IsOver,
  ): Promise<boolean> {
    while (!isOver()) {
      const open = await ledger.openHoldsBetween({ from, before: `${id}~`, limit: holdsAtOnce });
      const { failed } = await walk(open, {
        loop: 'holds of a dead process',
        isOver,
        async run({ task, account }) {
          const outcome = await closeHold(task, account);
          const message = 'closed the hold of an image request whose process died';
          log.warn({ task, account, process, outcome }, message);
          onClosed();
          return true;
        },
        onFailed: ({ task, account }, err) => log.error({ task, account, err }, 'a hold could not be closed'),
      });
      if (failed > 0) throw new Error(`${failed} holds of a dead process could not be closed`);
      if (open.length < holdsAtOnce) return !isOver();
    }
    return false;
  }

  return async ({ isOver }: StepTime = unlimited): Promise<Walked> => {
    let done = 0;
    const { failed } = await walk(await findDead(), {
      loop: 'dead leases',
      isOver: () => isGap() || isOver(),
      turns,
      async run(lease) {
        if (!(await leases.declareDead(lease))) return false;
        if (await closeHolds(lease, () => void (done += 1), isOver)) await leases.remove(lease.id);
        return true;
      },
      onFailed: ({ process }, err) =>
        log.error({ err, process }, 'the holds of a dead process could not be closed'),
    });
    return { done, failed };
  };
}

function createDeathWatch({ leases, now, pause }: Pick<DeadLeaseDeps, 'leases' | 'now' | 'pause'>) {
  const sightings = createSightings(now);
  let readAt = 0;
  const isGap = (): boolean => now() - readAt > gapMsMax;

  async function findUnchanged(): Promise<ImageLease[]> {
    const found: ImageLease[] = [];
    for await (const lease of leases.each())
      if (sightings.unchangedMs(lease.id, lease.beat) >= deadAfterMs) found.push(lease);
    sightings.forgetOthers();
    return found;
  }

  /** If MongoDB was unavailable between the reads, returns an empty list, and the next round starts over. */
  async function findDead(): Promise<ImageLease[]> {
    let silent = await findUnchanged();
    readAt = now();
    for (let ms = 0; ms < watchedMs && silent.length > 0; ms += readEveryMs) {
      await pause(readEveryMs);
      const unchanged = await findUnchanged();
      if (isGap()) return [];
      readAt = now();
      silent = silent.filter(({ id, beat }) => unchanged.some((one) => one.id === id && one.beat === beat));
    }
    return silent;
  }

  return { findDead, isGap };
}
