import type { Logger } from '../../observability/log.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { ImageLease, ImageLeaseStore } from '../../store/image-leases.ts';
import { createCloseHold } from './close-hold.ts';
import { leaseMs } from './process-lease.ts';

export interface DeadLeaseDeps {
  readonly leases: Pick<ImageLeaseStore, 'expired' | 'declareDead' | 'remove' | 'owedFor' | 'paid'>;
  readonly ledger: Pick<Ledger, 'settle' | 'release' | 'void' | 'entriesOfTask' | 'openHoldsBetween'>;
  readonly log: Logger;
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<void>;
}

/** A renewal may be in flight. */
const graceMs = 30_000;
/** Longer than a lease: who has not renewed for this long has none left by its own clock either, whatever that says. */
const observedMs = leaseMs + 10_000;
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
          'closed the hold of an image request whose process died',
        );
      }
      count += open.length;
      if (open.length < holdsAtOnce) return count;
    }
  }

  return async () => {
    let count = 0;
    const suspects = await leases.expired(now() - graceMs, leasesMax);
    if (suspects.length > 0) await deps.sleep(observedMs);
    for (const lease of suspects) {
      try {
        if (!(await leases.declareDead(lease))) continue;
        count += await closeHolds(lease);
        await leases.remove(lease.id);
      } catch (err) {
        // The others do not wait for it; the next run retries it.
        log.error({ err, process: lease.process }, 'the holds of a dead process could not be closed');
      }
    }
    return count;
  };
}
