import type { FailureTable } from '../shared/failure-table.ts';

const inspection = /^(?:DataInspectionFailed|data_inspection_failed)/;

/**
 * Covers rejected requests and failed tasks. A suffix makes a code more specific. Sources: the vendor's error page, and
 * recorded messages, 2026-11.
 */
export const dashscopeFailures: FailureTable = [
  // Input and output share this code, and the message says what was inspected, for example "Output data may contain
  // inappropriate content." or "Green net check failed for text (input): …".
  { code: inspection, words: /\boutput\b/i, outcome: 'rejected', class: 'moderation_output' },
  { code: inspection, words: /\btext\b/i, outcome: 'rejected', class: 'moderation_input', input: 'prompt' },
  { code: inspection, words: /\bimage\b/i, outcome: 'rejected', class: 'moderation_input', input: 'image' },
  { code: inspection, words: /\bvideo\b/i, outcome: 'rejected', class: 'moderation_input', input: 'video' },
  { code: inspection, words: /\baudio\b/i, outcome: 'rejected', class: 'moderation_input', input: 'audio' },
  {
    code: /^(?:DataInspectionFailed|data_inspection_failed|IPInfringementSuspect)/,
    outcome: 'rejected',
    class: 'moderation_input',
  },
  // The cause is the account's balance, quota or permissions, or the model's activation. Another channel may succeed.
  {
    code: /^(?:Arrearage|PrepaidBillOverdue|PostpaidBillOverdue|CommodityNotPurchased|BudgetLimitExceeded|QuotaExceeded|InvalidApiKey|AccessDenied|Model\.AccessDenied|ModelNotFound|model_not_found|Model\.NotFound|AllocationQuota|Throttling\.AllocationQuota|insufficient_quota)(?:\.|$)/,
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
