import type { FailureTable } from '../shared/failure-table.ts';

/** Codes of refusals and of failed tasks. Source: the vendor's error page, 2026-11; a suffix narrows a code. */
export const dashscopeFailures: FailureTable = [
  // One code for both: the words say which data was inspected. A refusal at submit can only mean the input.
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
  // The account's balance, quota or rights, or the model's switch: another channel may do better.
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
