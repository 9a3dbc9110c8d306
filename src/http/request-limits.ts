/** What one process lets its callers use at once. Every number has an environment variable (docs/configuration.md). */
export interface RequestLimits {
  /** Bytes of request bodies that are read or in use, of all keys and of one. */
  readonly bodiesBytesMax: number;
  readonly keyBodiesBytesMax: number;
  /** A body that comes slower is cut off. */
  readonly uploadBytesPerSecondMin: number;
  /** Of a key that has no limit of its own; 0: none. */
  readonly keyRequestsPerMinute: number;
  /** Requests of one key in progress; 0: no limit. */
  readonly keyConcurrentRequests: number;
  /** Creates that are carried out at once, of all accounts and of one; the others wait their turn. */
  readonly createsAtOnce: number;
  readonly accountCreatesAtOnce: number;
}

const mebibyte = 1024 * 1024;

/** Sized for a heap of 640 MB: a body in use costs up to three times its bytes. */
export const defaultRequestLimits: RequestLimits = {
  bodiesBytesMax: 160 * mebibyte,
  keyBodiesBytesMax: 80 * mebibyte,
  uploadBytesPerSecondMin: 8 * 1024,
  keyRequestsPerMinute: 6_000,
  keyConcurrentRequests: 256,
  createsAtOnce: 32,
  accountCreatesAtOnce: 16,
};
