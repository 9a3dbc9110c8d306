import type { Lease, LeaseStore } from '../store/leases.ts';

/** A process that does not renew for this long is dead. */
const leaseMs = 60_000;
const renewEveryMs = 15_000;

export interface LeaseDeps {
  readonly leases: LeaseStore;
  /** Of this process, for people. */
  readonly process: string;
  readonly now: () => number;
  readonly onError: (error: unknown) => void;
}

export interface KeptLease {
  /** To be asked once the hold is taken: false says that this took so long that a reconciler may have been here. */
  confirm(): Promise<boolean>;
  /** The images came and the ledger is away: whoever finds the lease settles. */
  markDelivered(charge: bigint): Promise<void>;
  /** The hold is closed. Never rejects: a lease that stays is tidied up by the reconciler. */
  end(): Promise<void>;
  /** Leaves it to run out. */
  abandon(): void;
}

/** Writes the lease and renews it until `end` or `abandon`. */
export async function keepLease(
  { leases, process, now, onError }: LeaseDeps,
  lease: Pick<Lease, 'image' | 'account' | 'hold'>,
): Promise<KeptLease> {
  const { image } = lease;
  const takenAt = now();
  await leases.insert({ ...lease, process, state: 'open', expiresAt: takenAt + leaseMs });
  const renew = (): Promise<boolean> => leases.renew(image, now() + leaseMs);
  const timer = setInterval(() => void renew().catch(onError), renewEveryMs);
  timer.unref();
  return {
    async confirm() {
      return now() - takenAt < renewEveryMs || renew();
    },
    markDelivered: (charge) => leases.markDelivered(image, charge),
    abandon: () => clearInterval(timer),
    async end() {
      clearInterval(timer);
      try {
        await leases.remove(image);
      } catch (error) {
        onError(error);
      }
    },
  };
}
