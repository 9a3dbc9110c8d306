import { periods } from '../../base/periods.ts';
import { limitRound, walk } from '../../base/walk.ts';
import { serviceUnavailable } from '../../errors/errors.ts';
import { imageLeaseIdLength, type ImageLeaseStore, type OwedCharge } from '../../store/image-leases.ts';
import type { CloseHold } from './close-hold.ts';
import { createProcessLease, type ProcessLease, type ProcessLeaseDeps } from './process-lease.ts';

export interface ImageLeasesDeps extends ProcessLeaseDeps {
  readonly leases: ImageLeaseStore;
  readonly closeHold: CloseHold;
}

/**
 * Ensures that every hold for a synchronous image is eventually closed, even if this process dies or the ledger is
 * unavailable.
 */
export interface ImageLeases {
  newImage(): string;
  /** Await this before taking the image's hold. Afterwards, call either `end` or `abandon`. */
  watch(image: string): Promise<WatchedImage>;
  /** Removes the process's lease if no hold is open. Otherwise, the lease expires and a reconciler closes the holds. */
  stop(): Promise<void>;
}

export interface WatchedImage {
  /**
   * Call this after taking the hold. Resolves to false if that took so long that a reconciler may have closed the hold.
   */
  confirm(): Promise<boolean>;
  /**
   * Records the charge for images that arrived while the ledger was unavailable. Whichever process closes the hold
   * reads the charge.
   */
  owe(charge: OwedCharge): Promise<void>;
  end(): void;
  /** Call this if the hold may still be open. It is then closed in the background. */
  abandon(account: string): void;
}

/** After this time, a write that seemed to fail can no longer take effect. */
const closeAfterMs = 60_000;

interface Abandoned {
  readonly since: number;
  readonly account: string;
  readonly end: () => void;
}

export function createImageLeases(deps: ImageLeasesDeps): ImageLeases {
  const { leases, now, onError } = deps;
  /** The current lease, and earlier leases that expired while this process was suspended or MongoDB was unavailable. */
  const own = new Map<string, ProcessLease>();
  const abandoned = new Map<string, Abandoned>();
  const owing = new Set<string>();
  let current: ProcessLease | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isClosing = false;

  function currentLease(): ProcessLease {
    if (current?.isValid() === true) return current;
    if (current !== undefined) {
      own.delete(current.id);
      void current.retire();
    }
    current = createProcessLease(deps);
    own.set(current.id, current);
    return current;
  }

  async function closeAbandoned(): Promise<void> {
    if (isClosing) return;
    isClosing = true;
    const isOver = limitRound(now);
    await walk([...abandoned], {
      loop: 'abandoned holds',
      isOver,
      async run([image, { since, account, end }]) {
        if (now() - since < closeAfterMs) return false;
        await deps.closeHold(image, account);
        abandoned.delete(image);
        end();
        return true;
      },
      onFailed([image, hold], error) {
        onError(error);
        // Move the failed item to the end so that the next round starts with the others.
        abandoned.delete(image);
        abandoned.set(image, hold);
      },
    });
    isClosing = false;
    if (abandoned.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  return {
    newImage: () => currentLease().newImage(),
    async watch(image) {
      const lease = own.get(image.slice(0, imageLeaseIdLength));
      if (lease === undefined)
        throw serviceUnavailable('the lease of this process expired before the hold of the image was taken');
      await lease.watch(image);
      const end = (): void => {
        lease.forget(image);
        if (owing.delete(image)) leases.paid(image).catch(onError);
      };
      return {
        confirm: () => lease.confirm(),
        async owe(charge) {
          if (owing.has(image)) return;
          await leases.owe(image, charge);
          owing.add(image);
        },
        end,
        abandon(account) {
          abandoned.set(image, { since: now(), account, end });
          timer ??= setInterval(() => void closeAbandoned(), periods.abandonedImages.everyMs).unref();
        },
      };
    },
    async stop() {
      clearInterval(timer);
      await current?.retire();
    },
  };
}
