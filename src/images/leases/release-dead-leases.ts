import type { Logger } from '../../observability/log.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { ImageLease, ImageLeaseStore } from '../../store/image-leases.ts';
import { createCloseHold } from './close-hold.ts';

export interface DeadLeaseDeps {
  readonly leases: Pick<ImageLeaseStore, 'takeExpired' | 'remove' | 'owedFor' | 'paid'>;
  readonly ledger: Pick<Ledger, 'settle' | 'release' | 'entriesOfTask' | 'openHoldsBetween'>;
  readonly log: Logger;
  readonly now: () => number;
}

/** Clocks differ, and a renewal may be on its way. */
const graceMs = 30_000;
const leasesMax = 100;
const holdsAtOnce = 500;

/**
 * Closes the holds of image requests whose process died: released, or settled where the images had been delivered.
 * Run by the reconciler's Schedule. Resolves with how many holds there were.
 */
export function createReleaseDeadLeases(deps: DeadLeaseDeps): () => Promise<number> {
  const { leases, ledger, log, now } = deps;
  const closeHold = createCloseHold(deps);

  async function closeHolds({ id, from, process }: ImageLease): Promise<number> {
    let count = 0;
    for (;;) {
      const open = await ledger.openHoldsBetween({ from, before: `${id}~`, limit: holdsAtOnce });
      for (const { task, account } of open) {
        const closed = await closeHold(task);
        log.warn(
          { task, account, process, outcome: closed },
          'an image request lost its process; its hold is closed now',
        );
      }
      count += open.length;
      if (open.length < holdsAtOnce) return count;
    }
  }

  return async () => {
    let count = 0;
    for (const lease of await leases.takeExpired(now() - graceMs, leasesMax)) {
      count += await closeHolds(lease);
      await leases.remove(lease.id);
    }
    return count;
  };
}
