import { createPlaces } from '../base/places.ts';

/** Images that this worker has rendered but not yet stored. They exist nowhere else. */
export interface UnstoredImages {
  /**
   * Counts the images while they are being stored. After a failed attempt, `mayWait` returns whether they may stay in
   * memory for another one.
   */
  hold<Result>(images: HeldImages, store: (mayWait: () => boolean) => Promise<Result>): Promise<Result>;
  /**
   * Returns false while any images are waiting for another attempt to store them. If more than half of the memory is in
   * use, also returns false for accounts that have images in memory.
   */
  mayRender(account: string): boolean;
}

interface HeldImages {
  readonly account: string;
  readonly bytes: number;
}

const accountShare = 0.75;
/** New renders start only below this share of the memory. The rest is reserved for renders in flight. */
const rendersUpTo = 0.5;

export function createUnstoredImages(bytesMax: number): UnstoredImages {
  const shareMax = bytesMax * accountShare;
  const places = createPlaces({ name: 'images not stored yet', placesMax: bytesMax, shareMax });
  let waiting = 0;
  return {
    async hold({ account, bytes }, store) {
      // A single result may exceed an account's share, so count at most the share.
      const place = places.take(account, { size: Math.min(bytes, shareMax) });
      let isWaiting = false;
      const mayWait = (): boolean => {
        if (typeof place === 'string') return false;
        if (!isWaiting) waiting += 1;
        isWaiting = true;
        return true;
      };
      try {
        return await store(mayWait);
      } finally {
        if (isWaiting) waiting -= 1;
        if (typeof place !== 'string') place.leave();
      }
    },
    mayRender: (account) =>
      waiting === 0 && (places.held <= bytesMax * rendersUpTo || places.heldBy(account) === 0),
  };
}
