import { createSightings } from '../../process/sightings.ts';
import type { Logger } from '../../observability/log.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { ImageLease, ImageLeaseStore } from '../../store/image-leases.ts';
import { createCloseHold } from './close-hold.ts';
import { leaseMs } from './process-lease.ts';

export interface DeadLeaseDeps {
  readonly leases: Pick<ImageLeaseStore, 'each' | 'declareDead' | 'remove' | 'owedFor' | 'paid'>;
  readonly ledger: Pick<Ledger, 'settle' | 'release' | 'void' | 'entriesOfTask' | 'openHoldsBetween'>;
  readonly log: Logger;
  readonly now: () => number;
}

/**
 * Seen unchanged for so long by our own clock: by then its owner, whatever its clock says, has none left either, and a
 * renewal that was in flight has arrived.
 */
const deadAfterMs = leaseMs + 30_000;
const holdsAtOnce = 500;

/**
 * Closes the holds of image requests whose process died: released, or settled where the images had been delivered.
 * Run by the reconciler's Schedule. Resolves with how many holds there were.
 */
export function createReleaseDeadLeases(deps: DeadLeaseDeps): () => Promise<number> {
  const { leases, ledger, log } = deps;
  const sightings = createSightings(deps.now);
  const closeHold = createCloseHold(deps);

  async function closeHolds({ id, from, process }: ImageLease): Promise<number> {
    let count = 0;
    for (;;) {
      const open = await ledger.openHoldsBetween({ from, before: `${id}~`, limit: holdsAtOnce });
      for (const { task, account } of open) {
        const closed = await closeHold(task);
        log.warn(
          { task, account, process, outcome: closed },
          'closed the hold of an image request whose process died',
        );
      }
      count += open.length;
      if (open.length < holdsAtOnce) return count;
    }
  }

  return async () => {
    let count = 0;
    for await (const lease of leases.each()) {
      if (sightings.unchangedMs(lease.id, lease.beat) < deadAfterMs) continue;
      try {
        if (!(await leases.declareDead(lease))) continue;
        count += await closeHolds(lease);
        await leases.remove(lease.id);
      } catch (err) {
        // The others do not wait for it; the next run retries it.
        log.error({ err, process: lease.process }, 'the holds of a dead process could not be closed');
      }
    }
    sightings.forgetOthers();
    return count;
  };
}
