import type { FailureTable } from '../shared/failure-table.ts';

/**
 * Covers rejected requests in both API versions, and failed jobs. Some errors have a type but no code. Sources:
 * the vendor's error code tables, 2026-09, and for 2061, recorded responses, 2026-11.
 */
export const minimaxFailures: FailureTable = [
  { code: /^(?:1004|2049|authorized_error)$/, outcome: 'unavailable', class: 'quota' },
  { code: /^(?:1008|2056|insufficient_balance_error)$/, outcome: 'unavailable', class: 'quota' },
  // The account's plan does not include the model. Some of these responses have status 500.
  { code: /^2061$/, outcome: 'unavailable', certain: true, class: 'quota' },
  { code: /^(?:1002|1039|1041|2045|rate_limit_error)$/, outcome: 'throttled', class: 'capacity' },
  { code: /^overloaded_error$/, outcome: 'throttled', class: 'capacity' },
  { code: /^(?:1026|unprocessable_entity_error)$/, outcome: 'rejected', class: 'moderation_input' },
  { code: /^1027$/, outcome: 'rejected', class: 'moderation_output' },
  { code: /^(?:1042|2013|(?:bad|invalid)_request_error)$/, outcome: 'rejected', class: 'invalid_input' },
  { code: /^(?:1000|1001|1013|1024|1033|server_error)$/, class: 'internal' },
];
