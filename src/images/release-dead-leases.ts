import type { Logger } from '../log.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Lease, LeaseStore } from '../store/leases.ts';

export interface DeadLeaseDeps {
  readonly leases: Pick<LeaseStore, 'listExpired' | 'remove'>;
  readonly ledger: Pick<Ledger, 'settle' | 'release'>;
  readonly log: Logger;
  readonly now: () => number;
}

/** Clocks differ, and a renewal may be on its way. */
const graceMs = 30_000;
const leasesMax = 500;

/**
 * Closes the holds of image requests whose process died: released, or settled where the images had been delivered.
 * Run by the reconciler's Schedule. Resolves with how many there were.
 */
export function createReleaseDeadLeases({ leases, ledger, log, now }: DeadLeaseDeps): () => Promise<number> {
  return async () => {
    const dead = await leases.listExpired(now() - graceMs, leasesMax);
    for (const lease of dead) {
      const closed = await close(lease);
      log.warn(
        { image: lease.image, account: lease.account, process: lease.process, closed },
        'an image request lost its process; its hold is closed now',
      );
      await leases.remove(lease.image);
    }
    return dead.length;
  };

  async function close({ image: task, account, hold: held, state, charge }: Lease): Promise<string> {
    if (state === 'delivered' && charge !== undefined) {
      const note = 'reconciled: delivered by a process that died';
      return (await ledger.settle({ account, task, held, amount: charge, note })).closed;
    }
    return (await ledger.release({ account, task, held, note: 'reconciled: the process died' })).closed;
  }
}
