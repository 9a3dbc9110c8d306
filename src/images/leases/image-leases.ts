import { serviceUnavailable } from '../../errors/errors.ts';
import { imageLeaseIdLength } from '../../store/image-leases.ts';
import type { ImageLeaseStore, OwedCharge } from '../../store/image-leases.ts';
import type { CloseHold } from './close-hold.ts';
import { createProcessLease } from './process-lease.ts';
import type { ProcessLease, ProcessLeaseDeps } from './process-lease.ts';

export interface ImageLeasesDeps extends ProcessLeaseDeps {
  readonly leases: ImageLeaseStore;
  readonly closeHold: CloseHold;
}

/** Ensures that no hold of a synchronous image stays open: not when this process dies, nor when the ledger is away. */
export interface ImageLeases {
  /** An id for an image; costs nothing. */
  newImage(): string;
  /** To be awaited before the hold of an image; the caller then calls one of the two functions that end it. */
  watch(image: string): Promise<WatchedImage>;
  /** Removes the process's lease if nothing is open; otherwise it expires, and a reconciler closes what it covers. */
  stop(): Promise<void>;
}

export interface WatchedImage {
  /** To be asked once the hold is taken: false if that took so long that a reconciler may have intervened. */
  confirm(): Promise<boolean>;
  /** The images arrived while the ledger is unavailable: whoever closes the hold charges this. */
  owe(charge: OwedCharge): Promise<void>;
  /** The hold is closed. */
  end(): void;
  /** The hold is open or may be: it is closed in the background. */
  abandon(account: string): void;
}

/** A write that seemed to fail may still arrive; by then it has. */
const closeAfterMs = 60_000;
const lookEveryMs = 15_000;

interface Abandoned {
  readonly since: number;
  readonly account: string;
  readonly end: () => void;
}

export function createImageLeases(deps: ImageLeasesDeps): ImageLeases {
  const { leases, now, onError } = deps;
  /** The current one, and those that ran out while this process was suspended or MongoDB was unavailable. */
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
    for (const [image, { since, account, end }] of abandoned) {
      if (now() - since < closeAfterMs) continue;
      try {
        await deps.closeHold(image, account);
        abandoned.delete(image);
        end();
      } catch (error) {
        // Retried; what is behind it does not wait for it.
        onError(error);
      }
    }
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
        throw serviceUnavailable('the lease of this process ran out before the image was held');
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
          timer ??= setInterval(() => void closeAbandoned(), lookEveryMs).unref();
        },
      };
    },
    async stop() {
      clearInterval(timer);
      await current?.retire();
    },
  };
}
