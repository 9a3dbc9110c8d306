import type { FailureTable } from '../shared/failure-table.ts';

/**
 * Covers rejected requests and failed tasks. A suffix makes a code more specific. Source: the vendor's error page,
 * 2026-11.
 */
export const dashscopeFailures: FailureTable = [
  // Input and output share this code, and the message says which was inspected. If a submission is rejected, it can
  // only be the input.
  {
    code: /^(?:DataInspectionFailed|data_inspection_failed)/,
    words: /^output data/i,
    outcome: 'rejected',
    class: 'moderation_output',
  },
  {
    code: /^(?:DataInspectionFailed|data_inspection_failed|IPInfringementSuspect)/,
    outcome: 'rejected',
    class: 'moderation_input',
  },
  // The cause is the account's balance, quota or permissions, or the model's activation. Another channel may succeed.
  {
    code: /^(?:Arrearage|InvalidApiKey|AccessDenied|Model\.AccessDenied|ModelNotFound|model_not_found|Model\.NotFound|AllocationQuota|Throttling\.AllocationQuota|insufficient_quota)(?:\.|$)/,
    outcome: 'unavailable',
    class: 'quota',
  },
  { words: /^Model not exist/i, outcome: 'unavailable', class: 'quota' },
  { code: /^(?:Throttling|LimitRequests)(?:\.|$)/, outcome: 'throttled', class: 'capacity' },
  { code: /^(?:ModelServingError|ModelUnavailable)/, class: 'capacity' },
  {
    code: /^(?:InvalidParameter|BadRequest|InvalidURL|invalid_parameter_error|UnsupportedOperation)/,
    class: 'invalid_input',
  },
  { code: /^InternalError/, class: 'internal' },
];
