import { createPlaces } from '../base/places.ts';
import { GatewayError } from '../errors/errors.ts';
import { NoRoomError } from '../errors/not-stored.ts';
import { imageBytesMax } from './convert.ts';

export interface FetchedImages {
  open(account: string): FetchedSpace;
}

export interface FetchedSpace {
  /**
   * Throws NoRoomError if the account, or all accounts together, would use too much memory, and GatewayError if this
   * request alone would.
   */
  readonly reserve: (bytes: number) => void;
  readonly release: () => void;
}

const accountShare = 0.75;

export function fetchedBytesMax({ UPLOADS_BYTES_MAX }: { readonly UPLOADS_BYTES_MAX: number }): number {
  return Math.max(UPLOADS_BYTES_MAX, (2 * imageBytesMax) / accountShare);
}

export function createFetchedImages(bytesMax: number): FetchedImages {
  const shareMax = bytesMax * accountShare;
  const places = createPlaces({ name: 'fetched images', placesMax: bytesMax, shareMax });
  const full = (account: string): NoRoomError =>
    new NoRoomError(
      `reference images use ${places.held} bytes, ${places.heldBy(account)} of them for ${account}`,
    );
  return {
    open(account) {
      const place = places.take(account, { size: 0 });
      if (typeof place === 'string') throw full(account);
      return {
        reserve(bytes) {
          if (place.size + bytes > shareMax)
            throw new GatewayError(
              'invalid_parameter',
              `The images of a request must not exceed ${Math.floor(shareMax)} bytes in total.`,
              { param: 'image' },
            );
          if (place.resize(place.size + bytes) !== undefined) throw full(account);
        },
        release: () => place.leave(),
      };
    },
  };
}
