import { periods } from '../../base/periods.ts';
import { imageIdPrefix, randomBase62, type RandomBytes } from '../../base/ids.ts';
import { racePoint } from '../../base/race-point.ts';
import { imageLeaseIdLength, type ImageLeaseStore } from '../../store/image-leases.ts';

/** A process that has not renewed its lease for this long, by its own clock, starts no more work under it. */
export const leaseMs = 60_000;

/** The number of base-36 digits in the counter. It is fixed, so that a process's ids sort by creation time. */
const counterDigits = 9;

export interface ProcessLeaseDeps {
  readonly leases: Pick<ImageLeaseStore, 'insert' | 'renew' | 'remove'>;
  readonly process: string;
  readonly now: () => number;
  readonly randomBytes: RandomBytes;
  readonly onError: (error: unknown) => void;
}

/**
 * A single document shows that the process is alive, however many images it renders. Image ids begin with the lease's
 * id and increase, so a reconciler can find a dead process's holds through the ledger's key index.
 */
export interface ProcessLease {
  readonly id: string;
  newImage(): string;
  isValid(): boolean;
  /** Await this before taking the image's hold. If the process dies later, a reconciler closes the hold. */
  watch(image: string): Promise<void>;
  /**
   * Call this after taking the hold. Resolves to false if that took so long that a reconciler may have closed the hold.
   */
  confirm(): Promise<boolean>;
  forget(image: string): void;
  retire(): Promise<void>;
}

export function createProcessLease(deps: ProcessLeaseDeps): ProcessLease {
  const { leases, now, onError } = deps;
  const random = randomBase62(imageLeaseIdLength - imageIdPrefix.length, deps.randomBytes);
  const id = imageIdPrefix + random;
  const nameOf = (n: number): string => id + n.toString(36).padStart(counterDigits, '0');
  const watched = new Set<string>();
  let count = 0;
  let isRetired = false;
  let validUntil = now() + leaseMs;
  let floor = nameOf(0);
  let written: Promise<void> | undefined;
  let renewal: Promise<boolean> = Promise.resolve(true);
  let timer: NodeJS.Timeout | undefined;

  async function write(): Promise<void> {
    const until = now() + leaseMs;
    try {
      await leases.insert({ id, process: deps.process, from: floor });
    } catch (error) {
      // It is unknown whether the lease was written, so it is never renewed. Its replacement has another name.
      validUntil = 0;
      throw error;
    }
    validUntil = until;
    timer = setInterval(() => void renew().catch(onError), periods.imageLease.everyMs).unref();
  }

  async function renewNow(): Promise<boolean> {
    const until = now() + leaseMs;
    floor = nameOf(count);
    for (const image of watched) if (image < floor) floor = image;
    await racePoint('lease.renew', id);
    const renewed = await leases.renew(id, floor);
    validUntil = renewed ? until : 0;
    if (!renewed) clearInterval(timer);
    return renewed;
  }

  /** Renewals run one after another, so that each of them writes the latest state. */
  function renew(): Promise<boolean> {
    renewal = renewal.then(renewNow, renewNow);
    return renewal;
  }

  async function remove(): Promise<void> {
    clearInterval(timer);
    if (written === undefined) return;
    try {
      await written;
      await renewal.catch(onError);
      await leases.remove(id);
    } catch (error) {
      onError(error);
    }
  }

  return {
    id,
    newImage() {
      count += 1;
      return nameOf(count - 1);
    },
    isValid: () => now() < validUntil,
    async watch(image) {
      watched.add(image);
      try {
        written ??= write();
        await written;
        // A renewal since this id was created has recorded every image before `floor` as done. Another renewal has to
        // correct that.
        if (image < floor) await renew();
      } catch (error) {
        watched.delete(image);
        throw error;
      }
    },
    confirm: async () => now() < validUntil || renew(),
    forget(image) {
      watched.delete(image);
      if (isRetired && watched.size === 0) void remove();
    },
    async retire() {
      isRetired = true;
      if (watched.size === 0) await remove();
    },
  };
}
