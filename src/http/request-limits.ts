import type { Environment } from '../config/environment.ts';

/**
 * What one process lets its callers use at once. Every number has an environment variable (docs/configuration.md), whose
 * default suits a heap of 640 MB.
 */
export interface RequestLimits {
  /** What request bodies may cost in memory, from their first byte until they are answered; see `createBodyBudgets`. */
  readonly bodiesBytesMax: number;
  /** Bytes of uploaded files on disk. */
  readonly uploadsBytesMax: number;
  /** A body that comes slower is cut off. */
  readonly uploadBytesPerSecondMin: number;
  /** Of one address without a valid key; 0: none. */
  readonly addressRequestsPerSecond: number;
  /** Of a key that has no limit of its own; 0: none. */
  readonly keyRequestsPerMinute: number;
  /** Requests of one key in progress; 0: no limit. */
  readonly keyConcurrentRequests: number;
  /** Creates that are carried out at once, of all accounts and of one; the others wait their turn. */
  readonly createsAtOnce: number;
  readonly accountCreatesAtOnce: number;
}

export function requestLimitsOf(environment: Environment): RequestLimits {
  return {
    bodiesBytesMax: environment.BODIES_BYTES_MAX,
    uploadsBytesMax: environment.UPLOADS_BYTES_MAX,
    addressRequestsPerSecond: environment.ADDRESS_REQUESTS_PER_SECOND,
    uploadBytesPerSecondMin: environment.UPLOAD_BYTES_PER_SECOND_MIN,
    keyRequestsPerMinute: environment.KEY_REQUESTS_PER_MINUTE,
    keyConcurrentRequests: environment.KEY_CONCURRENT_REQUESTS,
    createsAtOnce: environment.CREATES_AT_ONCE_MAX,
    accountCreatesAtOnce: environment.ACCOUNT_CREATES_AT_ONCE_MAX,
  };
}
