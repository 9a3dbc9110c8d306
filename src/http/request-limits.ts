import type { Environment } from '../config/environment.ts';

/**
 * Limits how much of a process's resources its callers can use at a time. Every limit has an environment variable
 * (docs/configuration.md). The defaults suit a 640 MB heap.
 */
export interface RequestLimits {
  /** The memory for request bodies in bytes, until the response has been sent. See `createBodyBudgets`. */
  readonly bodiesBytesMax: number;
  /** The disk space for uploaded files, in bytes. */
  readonly uploadsBytesMax: number;
  /** The minimum rate of a body, in bytes per second. Slower bodies are cut off. */
  readonly uploadBytesPerSecondMin: number;
  /** The limit for an address without a valid key, in requests per second. 0 means no limit. */
  readonly addressRequestsPerSecond: number;
  /** The limit for keys without a limit of their own, in requests per minute. 0 means no limit. */
  readonly keyRequestsPerMinute: number;
  /** 0 means no limit. */
  readonly keyConcurrentRequests: number;
  /** How many create requests run concurrently, in total and per account. Further ones wait. */
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
