import type { FailureTable } from '../shared/failure-table.ts';

/**
 * The vendor uses 400 for a wrong key and an unknown model, too: the words decide, before the sentence that is the code.
 * Source: recorded answers and the vendor's pages, 2026-10.
 */
export const xaiFailures: FailureTable = [
  { words: /api key/i, outcome: 'unavailable', class: 'quota' },
  { words: /model not found/i, outcome: 'unavailable', class: 'quota' },
  // Whether moderation may come with 403 is not verified: the words are the same.
  {
    words: /content (?:violates|policy)|usage guidelines|moderat/i,
    outcome: 'rejected',
    class: 'moderation_input',
  },
  { words: /spending limit|credits|billing/i, outcome: 'unavailable', class: 'quota' },
  { code: /does not have permission|unauthenticated/i, outcome: 'unavailable', class: 'quota' },
  { code: /resource has been exhausted|rate_limit/i, outcome: 'throttled', class: 'capacity' },
  { words: /at capacity|overloaded/i, outcome: 'throttled', class: 'capacity' },
  { code: /invalid argument|^invalid_argument$|not_supported/i, outcome: 'rejected', class: 'invalid_input' },
  // A create that meets a path or a model that is not there.
  { status: 404, outcome: 'unavailable', class: 'quota' },
  { status: 422, outcome: 'rejected', class: 'invalid_input' },
];
