import { imageIdPrefix, randomBase62 } from '../../base/ids.ts';
import { racePoint } from '../../base/race-point.ts';
import type { RandomBytes } from '../../base/ids.ts';
import { imageLeaseIdLength } from '../../store/image-leases.ts';
import type { ImageLeaseStore } from '../../store/image-leases.ts';

/** A process that has not renewed for this long, by its own clock, begins nothing under its lease any more. */
export const leaseMs = 60_000;
const renewEveryMs = 15_000;

/** In base36, so that a process's ids sort as they were given. */
const counterDigits = 9;

export interface ProcessLeaseDeps {
  readonly leases: Pick<ImageLeaseStore, 'insert' | 'renew' | 'remove'>;
  /** For people. */
  readonly process: string;
  readonly now: () => number;
  readonly randomBytes: RandomBytes;
  readonly onError: (error: unknown) => void;
}

/**
 * The lease under which one process takes holds for images. However many images it renders, one document shows that it
 * lives; their ids begin with the lease's, and grow, so that a reconciler finds the holds of a dead process in the
 * ledger's index of keys.
 */
export interface ProcessLease {
  readonly id: string;
  newImage(): string;
  /** Whether the lease still holds: its images may be sent to an upstream. */
  isValid(): boolean;
  /** To be awaited before the hold of an image: from now on, if the process dies, a reconciler closes that. */
  watch(image: string): Promise<void>;
  /** To be asked once the hold is taken: false if that took so long that a reconciler may have intervened. */
  confirm(): Promise<boolean>;
  /** The image's hold is closed. */
  forget(image: string): void;
  /** Gives no more ids, and removes the lease when no hold is left. Never rejects. */
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
  /** The `from` that was written last, or is being written. */
  let floor = nameOf(0);
  let written: Promise<void> | undefined;
  let renewal: Promise<boolean> = Promise.resolve(true);
  let timer: NodeJS.Timeout | undefined;

  async function write(): Promise<void> {
    const until = now() + leaseMs;
    try {
      await leases.insert({ id, process: deps.process, from: floor });
    } catch (error) {
      // It is not known whether it was written: nobody renews it, and its successor has another name.
      validUntil = 0;
      throw error;
    }
    validUntil = until;
    timer = setInterval(() => void renew().catch(onError), renewEveryMs).unref();
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

  /** One after the other: each writes what it sees. */
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
        // A renewal since the image got its id recorded that nothing below it is in progress.
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
