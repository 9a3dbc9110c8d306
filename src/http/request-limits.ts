import type { Environment } from '../config/environment.ts';

/**
 * The limits of one process. Each has an environment variable (docs/configuration.md). The defaults suit a heap of 640
 * MB.
 */
export interface RequestLimits {
  /** Memory for request bodies. A body occupies its share until the response has been sent. */
  readonly bodiesBytesMax: number;
  readonly uploadsBytesMax: number;
  readonly uploadBytesPerSecondMin: number;
  /** The limit for an IP address without a valid key. 0 means no limit. */
  readonly addressRequestsPerSecond: number;
  /** The limit for keys without a limit of their own. 0 means no limit. */
  readonly keyRequestsPerMinute: number;
  /** 0 means no limit. */
  readonly keyConcurrentRequests: number;
  /** Concurrent create requests, in total and per account. Further requests wait. */
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
