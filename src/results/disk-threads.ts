import { createPlaces } from '../base/places.ts';
import { timeLimit } from '../process/running-time.ts';

/**
 * Libuv has four threads (`UV_THREADPOOL_SIZE`), which also look up names and compute hashes. An operation on a network
 * disk that hangs never frees its thread, so the storage may occupy only half of them, and one task only one.
 */
const diskThreadsMax = { name: 'threads of the storage', placesMax: 2, shareMax: 1 } as const;
/** How long an operation waits for a thread, in milliseconds. After that, the disk counts as not responding. */
const waitMs = 10_000;

/** Runs an operation on the storage's disk. Rejects if no thread becomes free in time. */
export type OnDisk = <Result>(holder: string, operation: () => Promise<Result>) => Promise<Result>;

export function createOnDisk(): OnDisk {
  const places = createPlaces(diskThreadsMax);
  return async (holder, operation) => {
    const taken = places.take(holder);
    const place = typeof taken === 'string' ? await places.wait(holder, timeLimit(waitMs)) : taken;
    if (place === undefined) throw new Error(`the disk has not responded for ${waitMs} ms`);
    try {
      return await operation();
    } finally {
      place.leave();
    }
  };
}
